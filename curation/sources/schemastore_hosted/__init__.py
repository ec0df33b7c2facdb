"""What SchemaStore lists and others host: its lock, and how it is fetched."""
