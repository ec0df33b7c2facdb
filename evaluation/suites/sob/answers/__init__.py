"""From a response's text to a verdict."""
