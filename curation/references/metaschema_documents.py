"""The metaschemas as documents that a `$ref` may lead to, draft-04 to 2020-12.

They come with jsonschema, byte for byte as json-schema.org publishes them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jsonschema_specifications import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json

#: Draft-03's is left out: no dialect of the benchmark can hold it.
_LEFT_OUT = "http://json-schema.org/draft-03/schema"


@cache
def _documents() -> Mapping[str, Json]:
    return {
        uri.rstrip("#"): REGISTRY[uri].contents
        for uri in REGISTRY
        if uri.rstrip("#") != _LEFT_OUT
    }


def standard_document(uri: str) -> Json | None:
    """Return the metaschema of an absolute URI without fragment, or None.

    http and https lead to the same document, as they do at json-schema.org.
    """
    documents = _documents()
    scheme, separator, rest = uri.partition("://")
    if scheme not in ("http", "https") or not separator:
        return None
    found = documents.get(f"http://{rest}")
    return documents.get(f"https://{rest}") if found is None else found
