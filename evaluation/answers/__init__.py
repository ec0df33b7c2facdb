"""Read the answer out of a response: triage, thinking, fences, JSON, schemas."""
