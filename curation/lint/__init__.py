"""Lints: defects that stay in a schema, each flagged by a code."""
