"""Mend the `$schema` URIs that name no draft."""

from __future__ import annotations

from collections.abc import Iterable

from curation.core.rule import ABSENT, Change, Context, Document, Json, Rule
from curation.json.pointer import Tokens, at, change_at, replaced
from curation.json.values import Trail, objects, searchable, tokens

NAME = "paper-schema-uri"
#: What WashingtonPost's roots are given; upstream they declare draft-04.
DRAFT_04 = "http://json-schema.org/draft-04/schema"
_DRAFT_07 = "http://json-schema.org/draft-07/schema"
_VERSIONLESS = "http://json-schema.org/schema#"
_MISSPELT = {
    "draft-04/schema#4": "draft-04/schema",
    "draft-07/schema#/definitions/": "draft-07/schema",
}
#: How a declaration stands in JSON text without whitespace.
_SIGN = b'"$schema":"'


def _mended(uri: str, *, at_root: bool) -> str | None:
    """Return the URI as published; None if the member goes."""
    if "hyper-schema" in uri:
        return uri.replace("hyper-schema", "schema").removesuffix("#")
    for wrong, right in _MISSPELT.items():
        uri = uri.replace(wrong, right)
    if uri == _VERSIONLESS:
        return _DRAFT_07 + "#" if at_root else _DRAFT_07
    return uri if at_root or "json-schema.org" in uri else None


def _without(value: Json, holder: Tokens) -> Json:
    members = at(value, holder)
    if not isinstance(members, dict):
        return value
    remaining = {name: member for name, member in members.items() if name != "$schema"}
    return replaced(value, holder, remaining)


def _holders(schema: Json) -> Iterable[tuple[Trail, dict[str, Json]]]:
    """Return the objects that may declare a dialect, outermost first."""
    if not isinstance(schema, dict):
        return []
    at_root = isinstance(schema.get("$schema"), str)
    nested = searchable(schema).count(_SIGN) > at_root
    return objects(schema) if nested else [(None, schema)]


def _apply(document: Document, _context: Context) -> Document:
    schema: Json = document.schema
    changes: list[Change] = []
    for trail, subschema in _holders(schema):
        uri = subschema.get("$schema")
        right = _mended(uri, at_root=trail is None) if isinstance(uri, str) else uri
        if right == uri:
            continue
        holder = tokens(trail)
        place = (*holder, "$schema")
        if right is None:
            schema = _without(schema, holder)
        else:
            schema = replaced(schema, place, right)
        after = ABSENT if right is None else right
        changes.append(change_at(NAME, place, uri, after))
    if (
        document.config == "WashingtonPost"
        and isinstance(schema, dict)
        and "$schema" not in schema
    ):
        schema = {"$schema": DRAFT_04, **schema}
        changes.append(change_at(NAME, ("$schema",), ABSENT, DRAFT_04))
    return document.changed(schema, changes) if changes else document


RULE = Rule(
    name=NAME,
    summary="Hyper-schema, misspelt and versionless `$schema` URIs become those of a "
    "draft at any depth; a nested foreign one goes; WashingtonPost roots get draft-04.",
    source="JSONSchemaBench paper, section 3.1 (schemas are standardized); 47 GitHub, "
    "1 Snowplow and 125 WashingtonPost records",
    apply=_apply,
)
