"""How much do two schemas have in common, and what follows for splits?"""
