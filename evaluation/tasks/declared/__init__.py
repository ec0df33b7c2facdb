"""Task `declared`: which schemas does an engine accept?"""
