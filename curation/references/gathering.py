"""Definitions that stand where no keyword reaches: `#/types/name`, a pointer to a name.

Validators follow such references. Who edits or translates a schema by its keywords
would leave out what they lead to.
"""

from __future__ import annotations

from curation.core.json_types import Json
from curation.json.pointer import Tokens, fragment_of
from curation.references.schema import Schema
from curation.schema.dialects import DRAFT_2019_09, Dialect
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.schema.subschemas import edited, subschema_locations


def gathered(schema: Json, dialect: Dialect) -> Json:
    """Return a schema whose references lead only to where keywords reach.

    The same object if they do. What an identifier of its own surrounds stays.

    Example:
        >>> gathered({"$ref": "#/a", "a": {"type": "null"}}, DRAFT_07)
        {'$ref': '#/definitions/a', 'definitions': {'a': {'type': 'null'}}}
    """
    holder = "$defs" if dialect.order >= DRAFT_2019_09.order else "definitions"
    names: dict[Tokens, str] = {}
    while isinstance(schema, dict):
        document = Schema(schema, dialect)
        places: dict[Tokens, str] = {}
        held = schema.get(holder)
        definitions = dict(held) if isinstance(held, dict) else {}
        for reference in document.scanned.references:
            target = document.lookup(reference.text, reference.base)
            if (
                target is None
                or target.is_subschema
                or reference.keyword != "$ref"
                or not isinstance(target.schema, dict)
                or {reference.base, target.base} != {document.base}
            ):
                continue
            name = names.get(target.tokens, "")
            if not name:
                name = target.tokens[-1]
                while name in definitions:
                    name += "_"
                names[target.tokens] = name
                definitions[name] = target.schema
            places[reference.tokens] = fragment_of((holder, name))
        if not places:
            break

        def led(tokens: Tokens, part: Json, to: dict[Tokens, str] = places) -> Json:
            if tokens not in to or not isinstance(part, dict):
                return part
            return {**part, "$ref": to[tokens]}

        schema = edited({**schema, holder: definitions}, dialect, led)
    return _without(schema, names, dialect) if names else schema


def _without(schema: Json, gone: dict[Tokens, str], dialect: Dialect) -> Json:
    """Return a schema without the unknown members in which some places stand."""
    known = {place.tokens for place in subschema_locations(schema, dialect)}
    members: dict[Tokens, set[str]] = {}
    for tokens in gone:
        length = next(n for n in range(len(tokens), -1, -1) if tokens[:n] in known)
        members.setdefault(tokens[:length], set()).add(tokens[length])

    def dropped(tokens: Tokens, part: Json) -> Json:
        names = members.get(tokens, set()) - KNOWN_KEYWORDS
        if not names or not isinstance(part, dict):
            return part
        return {name: value for name, value in part.items() if name not in names}

    return edited(schema, dialect, dropped)
