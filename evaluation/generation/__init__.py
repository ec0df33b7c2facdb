"""Generating under an engine's constraint, and timing every part of it."""
