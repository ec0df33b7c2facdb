"""Language models, one file each; nothing heavy is imported before one is loaded."""
