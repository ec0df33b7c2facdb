"""Files, folders, terminals, progress and errors: where we touch the machine."""
