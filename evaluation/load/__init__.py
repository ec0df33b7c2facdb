"""Load on a model server: requests at times drawn in advance (`csbdata load`)."""
