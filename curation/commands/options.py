"""Options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

#: A dataset folder that a command reads, and may write into.
DatasetFolderArgument = Annotated[
    Path, typer.Argument(metavar="[DIR]", help="The dataset folder.")
]
