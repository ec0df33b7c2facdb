"""One whole measurement: from a request to the folder of a run."""
