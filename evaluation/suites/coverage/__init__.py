"""Coverage and efficiency: texts that models write under an engine, and their times."""
