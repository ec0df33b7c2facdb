"""Constraints on one value of an instance."""
