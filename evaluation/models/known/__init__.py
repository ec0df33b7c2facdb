"""The models that are known by a name of their own: one file each."""
