"""Where a `$ref` leads, and how what it leads to is brought into the document."""
