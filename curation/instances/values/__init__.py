"""Strings and numbers under constraints."""
