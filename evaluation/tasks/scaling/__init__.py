"""Task `scaling`: how do costs grow with the size of a schema?"""

from typing import Final

#: What `--task` calls it, and rows say.
NAME: Final = "scaling"
