"""Can a schema come back to itself through its references?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.references.resolution import document_of, follow_reference
from curation.schema.dialects import ANY_DIALECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.references.resolution import SchemaDocument
    from curation.schema.dialects import Dialect


def is_recursive(schema: Json, dialect: Dialect) -> bool:
    """Return whether a local reference leads, by way of others, back above itself.

    References to other documents are not followed.
    """
    resolved = list(_resolved(schema, dialect))
    targets = {target for _, target in resolved}
    follows: dict[Tokens, set[Tokens]] = {target: set() for target in targets}
    for tokens, target in resolved:
        for length in range(len(tokens) + 1):
            if tokens[:length] in targets:
                follows[tokens[:length]].add(target)
    return _has_cycle(follows)


def _resolved(schema: Json, dialect: Dialect) -> Iterator[tuple[Tokens, Tokens]]:
    """Yield where each local reference stands, and where it leads."""
    uri = _own_uri(schema) if dialect is ANY_DIALECT else ""
    document = document_of(schema, dialect, uri)
    # Most definitions are referred to many times.
    leads_to: dict[tuple[str, str], Tokens | None] = {}
    for reference in document.scanned.references:
        if not isinstance(reference.value, str):
            continue
        text = reference.value, reference.base
        if text not in leads_to:
            leads_to[text] = _target(*text, document)
        target = leads_to[text]
        if target is not None:
            yield reference.tokens, target


def _target(reference: str, base: str, document: SchemaDocument) -> Tokens | None:
    """Return where in the document a reference leads, or None where nowhere."""
    try:
        found = follow_reference(reference, base, [document])
    except (LookupError, ValueError):
        return None
    return found[1].tokens if found else None


def _own_uri(schema: Json) -> str:
    """Return the URI by which a schema names itself in draft-04, without fragment."""
    uri = schema.get("id") if isinstance(schema, dict) and "$id" not in schema else None
    return uri.partition("#")[0] if isinstance(uri, str) else ""


def _has_cycle(follows: dict[Tokens, set[Tokens]]) -> bool:
    done: set[Tokens] = set()
    for start, first in follows.items():
        path: list[tuple[Tokens, Iterator[Tokens]]] = [(start, iter(first))]
        open_now = {start}
        while path and start not in done:
            here, rest = path[-1]
            following = next(rest, None)
            if following is None:
                path.pop()
                open_now.discard(here)
                done.add(here)
            elif following in open_now:
                return True
            elif following not in done:
                open_now.add(following)
                path.append((following, iter(follows[following])))
    return False
