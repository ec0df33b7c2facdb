"""What is wrong with an answer: one class for the whole, and one for each leaf."""
