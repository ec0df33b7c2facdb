"""Values that fail exactly one keyword."""
