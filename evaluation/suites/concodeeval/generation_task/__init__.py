"""Task 1: write a sample that satisfies the schema."""
