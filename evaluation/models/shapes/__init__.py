"""Models whose shape is known and whose weights are drawn."""
