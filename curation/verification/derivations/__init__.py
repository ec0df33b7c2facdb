"""What of a folder follows from the rest of it: derived again, and compared."""
