"""Task `open-loop`: what does a server answer under load, and when?"""
