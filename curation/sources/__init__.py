"""The sources, one file each; `curation.sources.base` says what one is."""
