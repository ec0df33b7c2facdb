"""Verdicts of validators on instances, and labels made of them."""
