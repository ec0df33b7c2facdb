"""Rules that see all records together."""
