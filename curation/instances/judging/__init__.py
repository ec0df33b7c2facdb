"""What validators make of a value: verdicts, violations, labels."""
