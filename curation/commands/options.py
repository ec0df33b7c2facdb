"""Options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

#: A dataset folder that a command reads, and may write into.
DatasetFolderArgument = Annotated[
    Path, typer.Argument(metavar="[DIR]", help="The dataset folder.")
]
#: A folder of archives that is asked before the network.
MirrorOption = Annotated[
    Path | None,
    typer.Option(
        envvar="CSBDATA_MIRROR", help="Folder of source archives to look in first."
    ),
]
#: Whether the network may be used.
OfflineOption = Annotated[
    bool, typer.Option("--offline", help="Never open a network connection.")
]
#: Where the workers are.
ExecutorOption = Annotated[
    str,
    typer.Option(
        metavar="local|ray",
        help="Where the workers are: processes here, or the nodes of a Ray cluster.",
    ),
]
#: Which Ray cluster.
AddressOption = Annotated[
    str,
    typer.Option(
        metavar="HOST:PORT",
        help="The head of the Ray cluster, or auto for the one of this machine "
        "[default: one that is started here].",
    ),
]
