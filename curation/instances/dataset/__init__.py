"""Instances of a whole build: the step that makes them, their tables and files."""
