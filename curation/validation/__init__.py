"""What validators say of a schema: its metaschema, its dialect, its patterns."""
