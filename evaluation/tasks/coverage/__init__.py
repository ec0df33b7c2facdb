"""Task `coverage`: does what a model writes under an engine satisfy the schema?"""
