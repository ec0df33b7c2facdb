"""A run of `csbdata eval`, read back."""
