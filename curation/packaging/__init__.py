"""From records to a dataset folder: parquet, card, manifest."""
