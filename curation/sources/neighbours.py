"""Files next to a user's schemas, to which their references may lead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import msgspec

from curation.core.documents import Rejected
from curation.core.json_types import Json
from curation.core.rule import Library
from curation.json.named_text import parse_named
from curation.sources.readers import claimed_uris, own_uri
from curation.workers.limits import DOCUMENT_BYTES

#: As `build --with local` names the place of a user's own file.
_SOURCE = "local"


class NeighbourFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files that references may lead to."""

    #: The folder below which they are; empty without one.
    root: str = ""
    #: Absolute URI that a file claims by its `$id` to its path below the root.
    claims: Mapping[str, str] = {}


def to_base_uri(path: str) -> str:
    """Return the base URI of a file, for the references in it.

    Args:
        path: Relative to the root, with `/`.
    """
    return own_uri(_SOURCE, path)


class NeighbourLibrary:
    """A `curation.core.rule.Library` over a folder, read when it is asked for.

    A file, JSON or by its name YAML, is found by a relative reference, or by its `$id`:
    if it is among the files of the user, or lies as their identifiers relate
    to each other. http and https are the same. Nothing outside the root is read.
    """

    def __init__(self, root: Path, claims: Mapping[str, str]) -> None:
        """Take the root and the claims of `NeighbourFiles`."""
        self._root = root.resolve()
        self._claims = claims
        self._documents: dict[str, Json | None] = {}

    def get(self, uri: str, /) -> Json | None:
        """Return the parsed document, or None if it is missing or unreadable."""
        from curation.validation.metaschemas import other_scheme  # noqa: PLC0415 (slow)

        if uri not in self._documents:
            places = dict.fromkeys(
                path for own in (uri, other_scheme(uri)) for path in self._places(own)
            )
            documents = map(self._document, places)
            self._documents[uri] = next(
                (value for value in documents if value is not None), None
            )
        return self._documents[uri]

    def _places(self, uri: str) -> Iterator[str]:
        """Yield the paths at which the document of a URI may be."""
        if uri in self._claims:
            yield self._claims[uri]
            return
        if uri.startswith(to_base_uri("")):
            yield unquote(urlsplit(uri).path).lstrip("/")
            return
        # Relative paths of files may equal those of their URIs.
        for claim, path in self._claims.items():
            folder = claim.rpartition("/")[0] + "/"
            if uri.startswith(folder):
                name = unquote(uri.removeprefix(folder))
                yield str(PurePosixPath(path).parent / name)

    def _document(self, path: str) -> Json | None:
        try:
            file = (self._root / path).resolve()
            if not file.is_relative_to(self._root) or not file.is_file():
                return None
            if file.stat().st_size > DOCUMENT_BYTES:
                return None
            document = parse_named(file.name, file.read_bytes())
        except (OSError, RuntimeError, ValueError):
            return None
        return None if isinstance(document, Rejected) else document


def find_neighbours(root: Path, contents: Mapping[str, bytes]) -> NeighbourFiles:
    """Return the files that references between checked files may lead to.

    Args:
        root: The folder below which references may lead.
        contents: Path below the root, with `/`, to the JSON text of each file checked.
    """
    claims = claimed_uris(contents.__getitem__, sorted(contents))
    return NeighbourFiles(root=str(root), claims=claims)


def neighbour_library(neighbours: NeighbourFiles) -> Library:
    """Return the targets of references between files; nothing without a root."""
    if not neighbours.root:
        from curation.references.closure import NO_LIBRARY  # noqa: PLC0415 (slow)

        return NO_LIBRARY
    return NeighbourLibrary(Path(neighbours.root), neighbours.claims)
