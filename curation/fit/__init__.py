"""Will a target take a schema, what does it ignore, and where is that told."""
