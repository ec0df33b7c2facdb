"""Task `probe`: which keywords does an engine enforce?"""

from typing import Final

#: What `--task` calls it, and rows say.
NAME: Final = "probe"
