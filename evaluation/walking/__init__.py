"""Cases to engines, rows to the folder of a run."""
