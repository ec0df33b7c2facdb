"""Task `probe`: the keywords that an engine enforces."""

from typing import Final

#: Its name in `--task` and in rows.
NAME: Final = "probe"
