"""Rows of our own: kinds of things, a mix of choices, and a draw of both."""
