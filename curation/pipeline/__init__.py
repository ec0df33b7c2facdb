"""One build: from what was asked to decided documents and a written folder."""
