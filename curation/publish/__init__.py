"""Publishing a dataset folder: on the Hub, or wherever fsspec can write."""
