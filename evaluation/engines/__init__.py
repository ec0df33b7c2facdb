"""One file an engine, each run by its path inside a worker (see `protocol`)."""
