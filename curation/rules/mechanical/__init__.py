"""Mechanical repairs: the text has no meaning, and one slip explains it."""
