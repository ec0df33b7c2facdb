"""What becomes of one raw document: in a worker, rule after rule, to a record."""
