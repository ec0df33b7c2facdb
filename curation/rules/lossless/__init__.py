"""Repairs that lose nothing: what stood there has one meaning, and keeps it."""
