"""Task `declared`: which schemas does an engine accept?"""

from typing import Final

#: What `--task` calls it, and rows say.
NAME: Final = "declared"
