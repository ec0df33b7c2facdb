"""Every schema that takes part in a record: its places, and what references reach.

A reference may lead into a word that no draft knows (`#/types/name`); what stands
there is then a schema like any other, though no walk of the places meets it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.references.closure import Closure, NotResolvedError
from curation.references.library import NoLibrary
from curation.references.resolution import referring
from curation.schema.subschemas import places, subschemas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect

_REFERRING = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


def taking_part(
    schema: UntypedJson, dialect: Dialect
) -> Iterator[tuple[Tokens, UntypedJson]]:
    """Yield every schema that is an object, with where it stands, each once.

    References that lead nowhere are passed over.
    """
    seen: set[Tokens] = set()
    for start, value in _starts(schema, dialect):
        if start in seen:
            continue
        for place in places(value, dialect):
            tokens = start + place.tokens
            if isinstance(place.schema, dict) and tokens not in seen:
                seen.add(tokens)
                yield tokens, place.schema


def _starts(
    schema: UntypedJson, dialect: Dialect
) -> Iterator[tuple[Tokens, UntypedJson]]:
    yield (), schema
    if not _leaves_the_places(schema, dialect):
        return
    try:
        closure = Closure(schema, dialect, "", NoLibrary())
    except NotResolvedError:
        return
    for region in closure.own_regions():
        yield region.spot.tokens, region.spot.value


def _leaves_the_places(schema: UntypedJson, dialect: Dialect) -> bool:
    """Tell, quickly, whether a reference may lead to what is no place."""
    return any(leaves_the_places(each, dialect) for each in subschemas(schema, dialect))


def leaves_the_places(schema: dict[str, UntypedJson], dialect: Dialect) -> bool:
    """Tell whether one schema's own references may lead to what is no place."""
    if _REFERRING.isdisjoint(schema):
        return False
    for word in referring(dialect):
        value = schema.get(word)
        if isinstance(value, str) and _outside(value, dialect):
            return True
    return False


def _outside(reference: str, dialect: Dialect) -> bool:
    """Tell whether a pointer is deeper than one member of one applicator."""
    pointer = reference.partition("#")[2]
    if not pointer.startswith("/"):
        return False
    container, _, rest = pointer[1:].partition("/")
    return container not in dialect.applicators or "/" in rest
