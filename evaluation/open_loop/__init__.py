"""Requests that arrive at a server at times drawn in advance, whatever it answers."""
