"""Walk texts through the masks of engines: one row a case."""
