"""Licence texts and notices as the archives have them, for the dataset folder.

MIT asks for its copyright line and Apache-2.0 for the file NOTICE wherever copies go.
They are taken from the archive itself at every build, byte for byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.benchmark import NOTICES, is_notice

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from curation.pipeline.inputs import BuildInput


def write_notices(inputs: Iterable[BuildInput], folder: Path) -> None:
    """Write every licence text and notice of the archives into a dataset folder.

    Raises:
        BadData: the cache's bytes have changed since they were packed (exit 65).
        OSError: a file cannot be written.
    """
    for given in inputs:
        files = given.reading.files
        # The user's own folder has schemas in it, or nothing.
        own = given.reading.config is not None
        for name in () if own else files.paths:
            if is_notice(name):
                place = folder / NOTICES / given.reading.archive / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(files.read(name))
