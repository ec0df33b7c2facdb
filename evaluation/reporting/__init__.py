"""Tables, charts and statistics as values, and their printing."""
