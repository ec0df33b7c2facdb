"""What a value at one place of a schema must meet."""
