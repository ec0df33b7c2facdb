"""Task `probe`: the keywords that an engine enforces."""

from typing import Final

#: What `--task` calls it, and rows say.
NAME: Final = "probe"
