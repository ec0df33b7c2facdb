"""Which schemas of a document does validation ever enter?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.references.resolution import descend, follow_reference
from curation.schema.keywords import CONTAINERS
from curation.schema.subschemas import children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.json.pointer import Tokens
    from curation.references.resolution import SchemaDocument
    from curation.schema.locations import SchemaLocation


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
            waiting += directly_applied(location, document)
    return entered


def directly_applied(
    location: SchemaLocation, document: SchemaDocument
) -> Iterator[SchemaLocation]:
    """Yield the schemas that one schema applies itself, by reference or inside it."""
    dialect = document.dialect
    for keyword in dialect.reference_keywords:
        text = location.keywords.get(keyword)
        if not isinstance(text, str):
            continue
        try:
            found = follow_reference(text, document.inside(location), [document])
        except (LookupError, ValueError):
            continue
        if found is not None:
            yield found[1]
    if dialect.ref_hides_siblings and "$ref" in location.keywords:
        return
    for tokens, _ in children(location.schema, dialect):
        if tokens[0] not in CONTAINERS:
            yield descend(location, tokens, dialect)
