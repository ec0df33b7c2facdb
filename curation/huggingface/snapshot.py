"""A dataset or a model on the Hub, as a local folder of the files that are asked for.

`huggingface_hub` reads its own environment: `HF_TOKEN`, `HF_HOME`,
`HF_HUB_OFFLINE` and the rest mean here what they mean there.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import huggingface_hub

from curation.huggingface.errors import fault_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: What is read of a dataset where nothing else is asked for.
_TABLES = ("*.parquet", "*.pq", "README.md")


def hub_snapshot(
    name: str, revision: str | None, patterns: Sequence[str] = _TABLES
) -> Path:
    """Return the folder that holds a Hub dataset's tables at a revision.

    Raises:
        NoInput: the Hub has no such dataset or revision.
        NotPermitted: it is gated, or private to others.
        Unavailable: the Hub cannot be reached, and the cache does not hold it.
    """
    with _told(name, revision):
        return Path(
            huggingface_hub.snapshot_download(
                name,
                repo_type="dataset",
                revision=revision,
                allow_patterns=list(patterns),
            )
        )


def model_files(name: str, revision: str | None, patterns: Sequence[str]) -> Path:
    """Return the folder that holds a Hub model's files of these names.

    Raises:
        NoInput: the Hub has no such model or revision.
        NotPermitted: it is gated, or private to others.
        Unavailable: the Hub cannot be reached, and the cache does not hold it.
    """
    with _told(name, revision):
        return Path(
            huggingface_hub.snapshot_download(
                name, revision=revision, allow_patterns=list(patterns)
            )
        )


@contextmanager
def _told(name: str, revision: str | None) -> Iterator[None]:
    """Turn what the Hub's client raises into a fault that says what to do."""
    try:
        yield
    except Exception as error:
        where = f"{name}@{revision}" if revision else name
        raise fault_of(error, where) from error
