"""Task `scaling`: growth of costs with the size of a schema."""

from typing import Final

#: What `--task` calls it, and rows say.
NAME: Final = "scaling"
