"""Task 2: does a given sample satisfy the schema?"""
