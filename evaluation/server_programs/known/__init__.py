"""The server programs that `--serve` knows: one file each."""
