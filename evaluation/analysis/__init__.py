"""Runs compared, gated, reported, and failures made small."""
