"""Publishing a dataset folder on the Hub."""
