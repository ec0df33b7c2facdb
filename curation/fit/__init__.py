"""Whether targets accept a schema, which parts they ignore, and the sources."""
