"""A type name, or a path, in the place of a schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from curation.json.pointer import Put, Tokens, rewritten
from curation.rules.guard import mechanical
from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import Shape
from curation.schema.misspellings import type_meant

if TYPE_CHECKING:
    from curation.core.rule import Json
    from curation.rules.guard import Refused

#: A path from the root, with its first slash or, into definitions, without it.
_PATH = re.compile(r"#(?:/|(?=(?:definitions|\$defs)/))(.*)", re.DOTALL)
#: Draft-03 reads names in these itself.
_NAMES = frozenset({"type", "disallow", "extends", "dependencies"})


def _mended(schema: dict[str, Json], refused: Refused) -> dict[str, Json]:
    edits: dict[Tokens, Put] = {}
    for place, value in refused.items():
        if isinstance(value, str) and _holds_schema(schema, place):
            meant = _schema_of(place[-1], value)
            if meant is not None:
                edits[place] = Put(meant)
    return cast("dict[str, Json]", rewritten(schema, edits))


def _holds_schema(schema: dict[str, Json], place: Tokens) -> bool:
    """Return whether a schema should stand at a place of a schema, nothing between."""
    if not place or place[0] in _NAMES:
        return False
    keyword, *inside = place
    shape = ANY_DIALECT.applicators.get(keyword)
    if not inside:
        return shape in (Shape.SCHEMA, Shape.EITHER)
    is_list = isinstance(schema.get(keyword), list)
    shapes = (Shape.SCHEMAS, Shape.EITHER) if is_list else (Shape.MAP,)
    return len(inside) == 1 and shape in shapes


def _schema_of(name: str, text: str) -> dict[str, Json] | None:
    """Return the schema that a text means, or None if that is not certain.

    `$ref`, or the type `object` by the name `type`, may be keywords in a wrong place.
    """
    meant = type_meant(text)
    if name == "$ref" or (name == "type" and meant == "object"):
        return None
    if meant is not None:
        return {"type": text}
    match = _PATH.fullmatch(text)
    return {"$ref": f"#/{match[1]}"} if match else None


RULE = mechanical(
    "type-as-schema",
    _mended,
    summary="A text where a schema should stand is the schema of the type that it "
    "names, or of what its path `#/...` or `#definitions/...` leads to, in a schema "
    "that its draft refuses.",
    source="Draft-04 core, section 3.2: a schema is an object; seven GitHub files, "
    "mended so in the published benchmark",
    note="a type's name where a schema should stand",
)
