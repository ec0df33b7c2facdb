"""Schemas: dialects, subschemas, roots, measures, translation, similarity."""
