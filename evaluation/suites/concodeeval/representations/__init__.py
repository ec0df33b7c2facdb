"""How is a schema, or a sample, written down? JSON, YAML, XML, Python, English."""
