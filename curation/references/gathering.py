"""Definitions out of the reach of keywords: `#/types/name`, a pointer to a name.

Validators follow such references. Who edits or translates a schema by its keywords
would omit their targets.
"""

from __future__ import annotations

from curation.core.json_types import Json, UntypedJson
from curation.json.pointer import Tokens, at, to_fragment
from curation.references.schema import Schema, references_in
from curation.schema.dialects import DRAFT_2019_09, Dialect
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.schema.roots import unused
from curation.schema.subschemas import below, edited, walk, without


def gathered(schema: Json, dialect: Dialect) -> Json:
    """Return a schema whose references lead only to where keywords reach.

    The same object if they do. Inner resources stay.

    Example:
        >>> gathered({"$ref": "#/a", "a": {"type": "null"}}, DRAFT_07)
        {'$ref': '#/definitions/a', 'definitions': {'a': {'type': 'null'}}}
    """
    if not isinstance(schema, dict):
        return schema
    holder = "$defs" if dialect.order >= DRAFT_2019_09.order else "definitions"
    existing_members = schema.get(holder)
    used = {*existing_members} if isinstance(existing_members, dict) else set()
    document = Schema(schema, dialect)
    names: dict[Tokens, str] = {}
    places: dict[Tokens, str] = {}
    references = [*document.references]
    for reference in references:
        target = document.lookup(reference.text, reference.base)
        if (
            target is None
            or target.is_subschema
            or reference.keyword != "$ref"
            or not isinstance(target.schema, dict)
            or {reference.base, target.base} != {document.base}
        ):
            continue
        if target.tokens not in names:
            names[target.tokens] = name = unused(target.tokens[-1], used)
            used.add(name)
            references += references_in(below(target, dialect), dialect)
        places[reference.tokens] = to_fragment((holder, names[target.tokens]))
    if not names:
        return schema

    # The unknown members with the definitions.
    locations = {location.tokens for location in walk(schema, dialect)}
    gone: dict[Tokens, set[str]] = {}
    for tokens in names:
        length = next(n for n in range(len(tokens), -1, -1) if tokens[:n] in locations)
        gone.setdefault(tokens[:length], set()).add(tokens[length])

    def led(start: Tokens) -> Json:
        """Return the value at a path, its references leading to definitions."""

        def change(tokens: Tokens, part: Json) -> Json:
            if not isinstance(part, dict):
                return part
            fragment = places.get((*start, *tokens))
            unknown = gone.get((*start, *tokens), set()) - KNOWN_KEYWORDS
            part = without(part, *unknown) if unknown else part
            return {**part, "$ref": fragment} if fragment else part

        return edited(at(schema, start), dialect, change)

    root: UntypedJson = led(())
    definitions = {name: led(tokens) for tokens, name in names.items()}
    before = root.get(holder)
    existing = before if isinstance(before, dict) else {}
    return {**root, holder: {**existing, **definitions}}
