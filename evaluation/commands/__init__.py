"""The commands of evaluation, one module each."""
