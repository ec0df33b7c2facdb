"""Task `masks`: what do an engine's masks allow, and what do they cost?"""
