"""Proofs that a keyword can never be the only one to fail."""
