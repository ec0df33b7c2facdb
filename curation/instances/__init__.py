"""Instances: values that prove what a schema accepts, and what it refuses."""
