"""Rows of a run, read back."""
