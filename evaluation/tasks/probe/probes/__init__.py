"""Minimal schemas with one valid and one violating value, for every keyword."""
