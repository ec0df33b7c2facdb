"""Documents that a reference may lead to: those of a source, and the metaschemas."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from curation.core.documents import Files, Rejected
from curation.core.json_types import Json
from curation.core.rule import Library
from curation.json.named_text import parse_named
from curation.validation.metaschemas import standard_documents

#: Number of parsed documents that are kept, the last ones used.
MOST_KEPT = 256


class PackLibrary:
    """A `curation.core.rule.Library` over the files of one archive.

    A document that cannot be read counts as absent. http and https lead to the same
    document, as on every host of these sources.
    """

    def __init__(self, files: Files, uris: Mapping[str, str]) -> None:
        """Take the files, and absolute URIs without fragment to their paths."""

        @lru_cache(MOST_KEPT)
        def parsed(path: str) -> Json | None:
            try:
                document = parse_named(path, files.read(path))
            except KeyError:
                return None
            return None if isinstance(document, Rejected) else document

        self._parsed, self._uris = parsed, uris

    def get(self, uri: str, /) -> Json | None:
        """Return the parsed document, or None if the source has none."""
        path = self._uris.get(uri) or self._uris.get(other_scheme(uri))
        return None if path is None else self._parsed(path)


#: For schemas that refer to no other document.
NO_LIBRARY: Final[Library] = MappingProxyType({})


def other_scheme(uri: str) -> str:
    """Return the URI with https for http, or http for https."""
    scheme, mark, rest = uri.partition("://")
    return {"http": "https", "https": "http"}.get(scheme, scheme) + mark + rest


def found_document(library: Library, uri: str) -> Json | None:
    """Return the document of a URI: the library's, otherwise a metaschema, or None."""
    document = library.get(uri)
    return standard_document(uri) if document is None else document


def standard_document(uri: str) -> Json | None:
    """Return the metaschema of an absolute URI without fragment, or None.

    http and https lead to the same document.
    """
    documents = standard_documents()
    return documents.get(uri, documents.get(other_scheme(uri)))
