"""What a schema asks of one value."""
