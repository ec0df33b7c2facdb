"""Regular expressions of ECMA-262: parsed, intersected, sampled."""
