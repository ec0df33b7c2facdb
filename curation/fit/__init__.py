"""Whether targets accept a schema, what they ignore, and the sources for it."""
