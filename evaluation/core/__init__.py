"""The nouns of evaluation: cases, the engine protocol, tasks."""
