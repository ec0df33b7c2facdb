"""JSON text, JSON values, and edits of both."""
