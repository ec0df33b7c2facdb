"""What a check is, what it finds, and what it is given of a folder."""
