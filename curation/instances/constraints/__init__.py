"""What one value of an instance must meet."""
