"""URIs that documents claim as their own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable

import orjson

# A cheap sieve: most documents claim nothing and are never parsed here.
_CLAIM = re.compile(rb'"\$?id"\s*:\s*"https?:', re.IGNORECASE)
_ABSOLUTE = re.compile(r"https?://[^/?#]", re.IGNORECASE)


def claimed_uri(content: bytes) -> str | None:
    """Return the absolute http(s) URI, without fragment, that a document claims.

    `$id` counts before `id`. None if there is none, its fragment is not empty, or the
    text cannot be read.
    """
    if not (b'id"' in content and _CLAIM.search(content)):
        return None
    try:
        schema = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(schema, dict):
        return None
    claims = (schema.get("$id"), schema.get("id"))
    claim = next((claimed for claimed in claims if isinstance(claimed, str)), None)
    if claim is None or not _ABSOLUTE.match(claim):
        return None
    uri, _, fragment = claim.partition("#")
    return None if fragment else uri


def claimed_uris(read: Callable[[str], bytes], paths: Iterable[str]) -> dict[str, str]:
    """Return the URI to path of every document that alone claims its URI.

    Copies, equal byte for byte, count as one document: the first path stands for
    them. A URI that two different documents claim leads nowhere.

    Args:
        read: Returns the JSON text of a path.
        paths: The documents' paths.
    """
    claims: dict[str, tuple[str, bytes]] = {}
    contested: set[str] = set()
    for path in paths:
        content = read(path)
        uri = claimed_uri(content)
        if uri is None:
            continue
        digest = hashlib.sha256(content).digest()
        if claims.setdefault(uri, (path, digest))[1] != digest:
            contested.add(uri)
    return {uri: path for uri, (path, _) in claims.items() if uri not in contested}
