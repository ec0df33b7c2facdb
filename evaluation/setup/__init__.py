"""The engines of a run: files, versions, environments, and the machine."""
