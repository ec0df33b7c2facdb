"""Evaluation: engines and models, measured on what `curation` packaged."""
