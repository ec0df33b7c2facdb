"""Messages between a check and its worker; the files that references may lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec

from curation.core.documents import Change, Lint, Rejected
from curation.core.json_types import Json
from curation.json.text import parse
from curation.sources.claims import claimed_uris
from curation.sources.readers import own_uri
from curation.workers.limits import Limits

#: The verdict of a validator that accepts a schema as one of its draft.
ACCEPTS: Final = "accepts"
#: How the verdict begins of a validator that a schema costs too much time or memory.
GIVES_UP: Final = "gives up"


class RulesQuestion(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="task", tag="rules"
):
    """Apply the rules of the benchmark to a text."""

    #: The bytes of the text as Latin-1, one character a byte.
    content: str
    #: Where relative references in it start; None if nothing is beside it.
    base_uri: str | None = None


class VerdictQuestion(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="task", tag="verdict"
):
    """Ask one validator about a text as a schema of one draft."""

    #: The bytes of the text as Latin-1, one character a byte.
    content: str
    #: One of `check_worker.VALIDATORS`.
    validator: str
    #: Name of the draft, such as `draft-07`.
    dialect: str


class VerdictAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of a validator."""

    #: `ACCEPTS`, or what is wrong; None of a text that is not JSON.
    verdict: str | None


class RulesAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The problems that the rules find in a text."""

    #: None if the text is no schema, or its dialect could not be decided.
    dialect: str | None = None
    dialect_evidence: str | None = None
    #: The drafts under whose metaschema it is valid.
    valid_under: tuple[str, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    changes: tuple[Change, ...] = ()
    lints: tuple[Lint, ...] = ()
    #: Name of a rule, or code of a lint, to what it means.
    summaries: Mapping[str, str] = {}


#: As `build --with local` names the place of a user's own file.
_SOURCE = "local"


class NeighbourFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files that references may lead to."""

    #: The folder below which they are; empty where there are none.
    root: str = ""
    #: Absolute URI that a file claims by its `$id` to its path below the root.
    claims: Mapping[str, str] = {}


def base_uri_of(path: str) -> str:
    """Return the URI at which a file stands, for the references in it.

    Args:
        path: Relative to the root, with `/`.
    """
    return own_uri(_SOURCE, path)


class NeighbourLibrary:
    """A `curation.core.rule.Library` over a folder, read when it is asked for.

    A file is found by a relative reference, or by its `$id` if it is among the files
    that are checked. Nothing outside the root is read.
    """

    def __init__(self, root: Path, claims: Mapping[str, str]) -> None:
        """Take the root and the claims of `NeighbourFiles`."""
        self._root = root.resolve()
        self._claims = claims
        self._documents: dict[str, Json | None] = {}

    def get(self, uri: str) -> Json | None:
        """Return the parsed document, or None if there is none that can be read."""
        if uri not in self._documents:
            self._documents[uri] = self._read(uri)
        return self._documents[uri]

    def _read(self, uri: str) -> Json | None:
        path = self._claims.get(uri)
        if path is None:
            if not uri.startswith(base_uri_of("")):
                return None
            path = unquote(urlsplit(uri).path).lstrip("/")
        file = (self._root / path).resolve()
        if not file.is_relative_to(self._root) or not file.is_file():
            return None
        try:
            if file.stat().st_size > Limits().document_bytes:
                return None
            document = parse(file.read_bytes())
        except (OSError, ValueError):
            return None
        return None if isinstance(document, Rejected) else document


class _Contents:
    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._contents))

    def read(self, path: str) -> bytes:
        return self._contents[path]


def neighbours_of(root: Path, contents: Mapping[str, bytes]) -> NeighbourFiles:
    """Return the files that references between checked files may lead to.

    Args:
        root: The folder below which references may lead.
        contents: Path below the root, with `/`, to the bytes of each file checked.
    """
    paths: Sequence[str] = sorted(contents)
    claims = claimed_uris(_Contents(contents), paths)
    return NeighbourFiles(root=str(root), claims=claims)
