"""Does a root describe its content beside `properties` instead of in it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import KNOWN_KEYWORDS, TYPE_OF_KEYWORD, Shape
from curation.schema.roots import constrains, looks_like_a_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json

#: Keywords by which a root does describe its content.
_DESCRIBING = {
    keyword
    for keyword, shape in ANY_DIALECT.applicators.items()
    if shape is not Shape.MAP or TYPE_OF_KEYWORD.get(keyword) == "object"
} | {"$ref", "enum", "const"}


def members_outside_properties(root: Json) -> Iterator[str]:
    """Yield the members of a root that were meant as properties.

    Such a root says that it is an object, or what it requires, and has no keyword that
    describes content; a member that no draft knows holds a schema that asks something.
    """
    if not isinstance(root, dict) or not looks_like_a_schema(root):
        return
    if not (_DESCRIBING - {"type"}).isdisjoint(root):
        return
    for name, member in root.items():
        unknown = name not in KNOWN_KEYWORDS and isinstance(member, dict)
        if unknown and constrains(member):
            yield name
