"""Task `test-suite`: the official JSON Schema Test Suite."""

from typing import Final

#: Its name in `--task` and in rows.
NAME: Final = "test-suite"
