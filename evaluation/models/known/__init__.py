"""Named models: one file each."""
