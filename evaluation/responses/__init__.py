"""Files of responses that others have written, one layout a module."""
