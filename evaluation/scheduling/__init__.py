"""Which engine is asked which case next, and on which core."""
