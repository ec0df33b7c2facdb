"""A row put into words: voices, thinking aloud, and the check that nothing was lost."""
