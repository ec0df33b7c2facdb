"""Every suite as a task of the harnesses that people run: Inspect, lm-evaluation."""
