"""Task `probe`: which keywords does an engine enforce?"""
