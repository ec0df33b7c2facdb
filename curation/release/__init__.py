"""Giving the data a version: what changed since the last one decides which."""
