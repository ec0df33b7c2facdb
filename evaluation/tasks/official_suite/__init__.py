"""Task `test-suite`: the official JSON Schema Test Suite."""

from typing import Final

#: What `--task` calls it, and rows say.
NAME: Final = "test-suite"
