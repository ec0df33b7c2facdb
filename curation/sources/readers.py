"""What the readers of several sources share: lists, pairs and edited copies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from curation.core.benchmark import natural_key
from curation.core.documents import Provenance, RawDocument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curation.sources.base import Reading

_JSON = ".json"
#: Folder of the archive `witness-generation` that holds the edited copies.
EDITED = "artifacts/JSONAlgebra/JsonSchema_To_Algebra/expDataset"


def document(  # noqa: PLR0913 (one argument for each thing that a source knows)
    reading: Reading,
    *,
    source: str,
    config: str,
    unique_id: str,
    path: str,
    base_uri: str | None = None,
    content: bytes | None = None,
    licence: str | None = None,
    original_repository: str | None = None,
) -> RawDocument:
    """Return the raw document of one file, or of `content`, a part of that file.

    `licence` stands for the archive's where the file has one of its own, and
    `original_repository` is known of few (`Provenance.original_repository`).

    Raises:
        KeyError: the archive has no such path.
    """
    return RawDocument(
        config=config,
        unique_id=unique_id,
        provenance=Provenance(
            source=source,
            path=path,
            commit=reading.commit,
            licence=licence or reading.licence,
            origin=reading.origin,
            original_repository=original_repository,
        ),
        content=reading.files.read(path) if content is None else content,
        base_uri=base_uri,
    )


def lines(lists: Path, name: str) -> list[str]:
    """Return the lines of a list, comments (`#`) and empty lines left out.

    Raises:
        OSError: the list is not there.
    """
    text = (lists / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def pairs(reading: Reading, name: str) -> list[tuple[str, str]]:
    """Return the (id, path) pairs of a list, in natural order of the ids."""
    rows = (line.partition("\t") for line in lines(reading.lists, name))
    return sorted(
        ((unique_id, path) for unique_id, _, path in rows),
        key=lambda pair: natural_key(pair[0]),
    )


def files_in(reading: Reading, folder: str, name: str = r".+") -> list[tuple[str, str]]:
    """Return (id, path) of the `.json` files directly in a folder.

    An id is the file name without `.json`, wholly matched by the regular
    expression `name`; natural order of ids.
    """
    start, wanted = folder.rstrip("/") + "/", re.compile(name)
    found = [
        (path[len(start) : -len(_JSON)], path)
        for path in reading.files.paths
        if path.startswith(start) and path.endswith(_JSON)
    ]
    return sorted(
        (pair for pair in found if "/" not in pair[0] and wanted.fullmatch(pair[0])),
        key=lambda pair: natural_key(pair[0]),
    )


def documents(
    reading: Reading, source: str, config: str, files: list[tuple[str, str]]
) -> Iterator[RawDocument]:
    """Yield the documents of (id, path) pairs, each read when it is asked for."""
    for unique_id, path in files:
        yield document(
            reading, source=source, config=config, unique_id=unique_id, path=path
        )


def own_uri(name: str, path: str) -> str:
    """Return an absolute URI for a file whose project gives it none.

    The host is under `.invalid`, which never resolves (RFC 2606 section 2).
    """
    return f"https://{name}.invalid/{quote(path)}"
