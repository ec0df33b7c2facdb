"""What do publishers have that the pins lack, and how are new pins written?"""
