"""Wire formats: how a request is written, and how its answer is read; one file each."""
