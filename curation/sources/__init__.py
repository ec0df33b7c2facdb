"""The sources, one file each; `curation.sources.readers` defines them."""
