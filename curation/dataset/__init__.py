"""A built dataset, read back: rows, ledger, editions, the paper's tables."""
