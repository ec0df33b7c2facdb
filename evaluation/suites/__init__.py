"""The suites: one folder each, whose module `suite` holds a `SUITE`."""
