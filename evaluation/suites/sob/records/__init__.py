"""Records: where they are read from, and how models are asked."""
