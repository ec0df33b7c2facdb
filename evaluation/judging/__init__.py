"""What a text is worth to validators: our own reading, and two that were published."""
