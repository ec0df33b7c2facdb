"""The commands that look: each a plain function that `curation.cli` registers."""
