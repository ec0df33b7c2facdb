"""Values that fail exactly one keyword, and proofs that none can."""
