"""The sources, one file each; `curation.sources.readers` says what one is."""
