"""Evaluation: measure engines, models and servers on JSONSchemaBench."""
