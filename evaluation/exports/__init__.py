"""Runs handed on to other tools and people: tables, plots, a page."""
