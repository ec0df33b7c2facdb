"""Task `masks`: correctness and cost of an engine's masks."""

from typing import Final

#: What `--task` calls it, and rows say.
NAME: Final = "masks"
