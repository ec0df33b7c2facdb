"""What of a model's text is the answer, by named policies; nothing is judged here."""
