"""Curation: from raw sources to JSONSchemaBench, every decision explained."""
