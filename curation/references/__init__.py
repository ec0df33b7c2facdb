"""References: followed, checked, and bundled into the schema."""
