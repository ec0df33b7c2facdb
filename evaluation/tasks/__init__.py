"""One folder a task: the cases for an engine, and the tables of its answers."""
