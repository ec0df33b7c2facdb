"""Make an edition of results: its sample, its runs, and its figures once more."""
