"""The checks of `csbdata verify`, one file each."""
