"""Which schemas of a document does validation ever enter?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.references.resolution import follow_reference
from curation.schema.keywords import CONTAINERS
from curation.schema.locations import SchemaLocation
from curation.schema.subschemas import children

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.references.resolution import SchemaDocument


def applied(document: SchemaDocument) -> dict[Tokens, SchemaLocation]:
    """Return the schemas that validation may enter, by where they stand.

    It starts at the root and goes on through applicators and references; a member of
    `definitions` is entered only where a reference leads to it, and what stands beside
    a `$ref` that hides it is not entered. What leads nowhere is passed over.
    """
    entered: dict[Tokens, SchemaLocation] = {}
    waiting = [document.root]
    while waiting:
        location = waiting.pop()
        if location.tokens not in entered:
            entered[location.tokens] = location
            waiting += (other for _, other in directly_applied(location, document))
    return entered


def referred(
    schema: Mapping[str, Json], base: str, document: SchemaDocument
) -> Iterator[SchemaLocation]:
    """Yield where the references of one schema lead, under the base URI inside it."""
    for keyword in document.dialect.reference_keywords:
        text = schema.get(keyword)
        if not isinstance(text, str):
            continue
        try:
            found = follow_reference(text, base, [document])
        except (LookupError, ValueError):
            continue
        if found is not None:
            yield found[1]


def directly_applied(
    location: SchemaLocation, document: SchemaDocument
) -> Iterator[tuple[str, SchemaLocation]]:
    """Yield the schemas that one schema applies itself, by reference or inside it.

    Each comes with the keyword that holds it; a reference has the empty name.
    """
    dialect, keywords = document.dialect, location.keywords
    inside = document.inside(location)
    for target in referred(keywords, inside, document):
        yield "", target
    if dialect.ref_hides_siblings and "$ref" in keywords:
        return
    base = inside if location.is_subschema else location.base
    for tokens, schema in children(location.schema, dialect):
        if tokens[0] not in CONTAINERS:
            yield (
                tokens[0],
                SchemaLocation(
                    location.tokens + tokens,
                    schema,
                    base,
                    location.document,
                    location.is_subschema,
                ),
            )
