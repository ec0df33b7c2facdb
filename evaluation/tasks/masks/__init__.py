"""Task `masks`: what do an engine's masks allow, and what do they cost?"""

from typing import Final

#: What `--task` calls it, and rows say.
NAME: Final = "masks"
