"""The search for values that a schema accepts."""
