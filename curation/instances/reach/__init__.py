"""What of a schema instances reach, and how to reach more."""
