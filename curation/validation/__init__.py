"""Validators: metaschemas, dialects, patterns, verdicts."""
