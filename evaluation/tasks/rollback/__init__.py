"""Task `rollback`: does a matcher that goes back, or is forked, find its place?"""

from typing import Final

#: What `--task` calls it, and rows say.
NAME: Final = "rollback"
