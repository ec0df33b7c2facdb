"""Mechanical repairs: what stood there has no meaning, and one slip explains it."""
