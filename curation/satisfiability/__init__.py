"""Proofs that no value satisfies a schema."""
