"""What does an answer say? JSON, YAML and XML of a stranger's hand, read safely."""
