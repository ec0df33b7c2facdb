"""From figures of records to figures of sources, and from these to one ranking."""
