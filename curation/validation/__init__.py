"""Validators: metaschemas, dialects, patterns."""
