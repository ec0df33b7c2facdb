"""Answers whose verdicts are known: the truth, and what was done to it."""
