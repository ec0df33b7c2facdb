"""Rows in files: the published format in both variants, and what ours adds."""
