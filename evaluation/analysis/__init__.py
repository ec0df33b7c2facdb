"""Compare runs, report them, shrink failures."""
