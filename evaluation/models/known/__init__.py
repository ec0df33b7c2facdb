"""Models with names of their own: one file each."""
