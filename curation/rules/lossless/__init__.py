"""Lossless repairs: the text has one meaning, and keeps it."""
