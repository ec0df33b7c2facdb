"""Options that several commands share, each declared once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from curation.packaging.signature import SigningKey

#: Has the password of a signing key, where nobody is there to be asked.
_PASSWORD = "CSBDATA_SIGN_PASSWORD"  # noqa: S105 - the name of a variable
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
#: The secret key that signs a dataset folder.
SignOption = Annotated[
    Path | None,
    typer.Option(metavar="KEY", help="Sign SHA256SUMS with this secret minisign key."),
]


def signing_key(path: Path | None) -> SigningKey | None:
    """Return the key of `--sign`, which asks for its password if it has one."""
    from curation.packaging.signature import SigningKey

    def password() -> str:
        known = os.environ.get(_PASSWORD)
        if known is not None:
            return known
        asked: str = typer.prompt(f"Password of {path}", hide_input=True, err=True)
        return asked

    return None if path is None else SigningKey(path=path, password=password)
