"""Answers whose verdict is known: a right one for every row, and broken ones."""
