"""Tables, charts and statistics as values, and how they are printed."""
