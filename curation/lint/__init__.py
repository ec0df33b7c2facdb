"""What is wrong with a schema and stays, flagged by a code."""
