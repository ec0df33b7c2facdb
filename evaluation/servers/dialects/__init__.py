"""The ways to ask a server for JSON that satisfies a schema: one file each."""
