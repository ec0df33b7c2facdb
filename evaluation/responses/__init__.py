"""Responses read from files of any known layout, and matched to their records."""
