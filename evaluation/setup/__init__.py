"""Which engine is measured: its file, version, Python and machine."""
