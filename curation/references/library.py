"""Documents that a reference may lead to: those of a source, and the metaschemas."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from curation.core.documents import Files, Rejected
from curation.core.json_types import Json
from curation.core.rule import Library
from curation.json.named_text import parse_named
from curation.validation.metaschemas import standard_documents

#: Number of parsed documents that are kept, the last ones used.
MOST_KEPT = 256


@dataclass(slots=True)
class PackLibrary:
    """A `curation.core.rule.Library` over the files of one archive.

    A document that cannot be read counts as absent. http and https lead to the same
    document, as on every host of these sources.
    """

    files: Files
    #: Absolute URI without fragment to path.
    uris: Mapping[str, str]
    _parsed: OrderedDict[str, Json | None] = field(
        default_factory=OrderedDict, repr=False
    )

    def get(self, uri: str) -> Json | None:
        """Return the parsed document, or None if the source has none."""
        path = self.uris.get(uri) or self.uris.get(other_scheme(uri))
        if path is None:
            return None
        if path in self._parsed:
            self._parsed.move_to_end(path)
            return self._parsed[path]
        document = self._read(path)
        self._parsed[path] = document
        if len(self._parsed) > MOST_KEPT:
            self._parsed.popitem(last=False)
        return document

    def _read(self, path: str) -> Json | None:
        try:
            content = self.files.read(path)
        except KeyError:
            return None
        document = parse_named(path, content)
        return None if isinstance(document, Rejected) else document


class _NoLibrary:
    def get(self, _uri: str, /) -> Json | None:
        """Return None for every URI."""
        return None


#: For schemas that refer to no other document.
NO_LIBRARY: Final[Library] = _NoLibrary()


def other_scheme(uri: str) -> str:
    """Return the URI with https for http, or http for https."""
    scheme, mark, rest = uri.partition("://")
    return {"http": "https", "https": "http"}.get(scheme, scheme) + mark + rest


def standard_document(uri: str) -> Json | None:
    """Return the metaschema of an absolute URI without fragment, or None.

    http and https lead to the same document.
    """
    documents = standard_documents()
    return documents.get(uri, documents.get(other_scheme(uri)))
