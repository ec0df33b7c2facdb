"""The user's own schemas, in the form in which they have them: one file a form."""
