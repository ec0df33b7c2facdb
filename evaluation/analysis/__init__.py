"""Compare runs, gate them, report them, shrink failures."""
