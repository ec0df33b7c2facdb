"""Regular expressions of ECMA-262: parsed, and intersected as automata."""
