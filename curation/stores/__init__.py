"""Objects at a URL that fsspec knows: put whole, listed, read; one writer at a time."""
