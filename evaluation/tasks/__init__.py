"""One file a task: what to ask of an engine, and what to make of the answers."""
