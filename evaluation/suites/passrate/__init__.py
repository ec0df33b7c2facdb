"""Prompted pass rate: JSON for a schema, without any constraint."""
