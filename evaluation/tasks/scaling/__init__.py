"""Task `scaling`: how do costs grow with the size of a schema?"""
