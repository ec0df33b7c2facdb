"""Instances: values that show which values a schema accepts and refuses."""
