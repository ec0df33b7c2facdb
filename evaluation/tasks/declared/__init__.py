"""Task `declared`: the schemas that an engine accepts."""

from typing import Final

#: What `--task` calls it, and rows say.
NAME: Final = "declared"
