"""The search for a value that a schema accepts."""
