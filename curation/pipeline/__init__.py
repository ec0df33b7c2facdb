"""One build: from a request to decided documents and a written folder."""
