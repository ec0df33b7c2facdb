"""A run whose folder is a URL: rows written there as objects, and copied here."""
