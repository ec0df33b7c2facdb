"""Pinned bytes: where they are asked for, and how they are verified."""
