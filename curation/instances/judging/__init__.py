"""What two validators say of a value."""
