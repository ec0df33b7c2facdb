"""Task `masks`: correctness and cost of an engine's masks."""

from typing import Final

#: Its name in `--task` and in rows.
NAME: Final = "masks"
