"""Have models answer prompts, free or under an engine, and score the answers."""
