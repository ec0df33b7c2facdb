"""Hypothesis strategies for schemas and instances."""
