"""Every schema that takes part in a record: subschemas, and what references reach.

A reference may lead into a member that no draft knows (`#/types/name`); what stands
there is then a schema like any other, though no walk of the subschemas meets it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Rejected
from curation.json.same_object import remembered
from curation.references.closure import closure_alone
from curation.schema.keywords import REFERENCE_KEYWORDS
from curation.schema.subschemas import subschema_locations, subschemas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect


def taking_part(
    schema: Json, dialect: Dialect
) -> Iterator[tuple[Tokens, dict[str, Json]]]:
    """Yield every schema that is an object, with where it stands, each once.

    References that lead nowhere are passed over.
    """
    return iter(_taking_part(schema, dialect))


@remembered
def _taking_part(
    schema: Json, dialect: Dialect
) -> Sequence[tuple[Tokens, dict[str, Json]]]:
    """Return what `taking_part` yields."""
    found: list[tuple[Tokens, dict[str, Json]]] = []
    seen: set[Tokens] = set()
    for start, value in _starts(schema, dialect):
        if start in seen:
            continue
        for location in subschema_locations(value, dialect):
            tokens = start + location.tokens
            if isinstance(location.schema, dict) and tokens not in seen:
                seen.add(tokens)
                found.append((tokens, location.schema))
    return found


def schemas_taking_part(schema: Json, dialect: Dialect) -> Iterator[dict[str, Json]]:
    """Yield the same schemas as `taking_part`, in any order, without where they are."""
    if not any_leaves_the_subschemas(schema, dialect):
        return subschemas(schema, dialect)
    return (subschema for _, subschema in taking_part(schema, dialect))


def _starts(schema: Json, dialect: Dialect) -> Iterator[tuple[Tokens, Json]]:
    yield (), schema
    if not any_leaves_the_subschemas(schema, dialect):
        return
    closure = closure_alone(schema, dialect)
    if isinstance(closure, Rejected):
        return
    for reached in closure.own_schemas():
        yield reached.location.tokens, reached.location.schema


@remembered
def any_leaves_the_subschemas(schema: Json, dialect: Dialect) -> bool:
    """Return, quickly, whether a reference may lead to what is no subschema."""
    return any(
        leaves_the_subschemas(subschema, dialect)
        for subschema in subschemas(schema, dialect)
    )


def leaves_the_subschemas(schema: dict[str, Json], dialect: Dialect) -> bool:
    """Return whether one schema's own references may lead to what is no subschema."""
    if schema.keys().isdisjoint(REFERENCE_KEYWORDS):
        return False
    for keyword in dialect.reference_keywords:
        value = schema.get(keyword)
        if isinstance(value, str) and _outside(value, dialect):
            return True
    return False


def _outside(reference: str, dialect: Dialect) -> bool:
    """Return whether a pointer is deeper than one member of one applicator."""
    pointer = reference.partition("#")[2]
    if not pointer.startswith("/"):
        return False
    container, _, rest = pointer[1:].partition("/")
    return container not in dialect.applicators or "/" in rest
