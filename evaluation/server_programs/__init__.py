"""Programs that serve a model: found where they are installed, started and ended."""
