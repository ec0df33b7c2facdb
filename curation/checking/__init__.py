"""Checks of single schemas, as a linter makes them."""
