"""Declare another draft for schemas that cannot be built; drop the others."""

from __future__ import annotations

from collections.abc import Iterable

import jsonschema_rs

from curation.core.json_types import UntypedJson
from curation.core.rule import ABSENT, Context, Document, Json, Reason, Rejected, Rule
from curation.json.pointer import change_at
from curation.json.text import plain
from curation.json.values import objects
from curation.rules.editing import with_schema
from curation.schema.subschemas import without
from curation.system.escaping import shortened
from curation.validation.metaschemas import refuse

NAME = "paper-rebuild"
DRAFT_04 = "http://json-schema.org/draft-04/schema#"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"
_KIND = jsonschema_rs.ValidationErrorKind
#: Longest message of jsonschema-rs that is kept; it repeats whole schemas.
_SHOWN = 240


def failure(schema: dict[str, Json]) -> jsonschema_rs.ValidationError | None:
    """Return why jsonschema-rs cannot build a schema as it is declared, or None."""
    try:
        try:
            jsonschema_rs.validator_for(schema, retriever=refuse)
        except jsonschema_rs.ValidationError:
            raise
        except ValueError:
            # A number that is spelled in its own way, which jsonschema-rs cannot read.
            readable = plain(schema)
            if isinstance(readable, dict):
                jsonschema_rs.validator_for(readable, retriever=refuse)
    except jsonschema_rs.ValidationError as error:
        return error
    return None


def _about_regex(error: jsonschema_rs.ValidationError) -> bool:
    """Return whether an error, or a whole branch of an `anyOf`, is about patterns."""
    if isinstance(error.kind, _KIND.Format):
        return error.kind.format == "regex"
    branches: Iterable[list[jsonschema_rs.ValidationError]]
    branches = getattr(error.kind, "context", ())
    return any(branch and all(map(_about_regex, branch)) for branch in branches)


def _redeclared(document: Document) -> tuple[str, ...]:
    """Return the `$schema`s under which the document is tried again, in order."""
    promoted = any(change.rule == "paper-promote" for change in document.changes)
    lenient = not promoted and any(
        subschema.get("required") == [] for _, subschema in objects(document.schema)
    )
    if lenient:
        return (DRAFT_2020_12,)
    # Draft-04 reads no `$id`, which else hides what pointers lead to.
    return (DRAFT_07,) if document.config.startswith("Github") else (DRAFT_07, DRAFT_04)


def _apply(document: Document, _context: Context) -> Document | Rejected:
    schema = document.schema
    error = failure(schema)
    if error is None:
        return document
    moved = _with_moved_required(schema)
    if moved != schema and failure(moved) is None:
        return with_schema(document, NAME, moved, note="a keyword of the object")
    lost = isinstance(error.kind, _KIND.Referencing)
    if lost and "retriev" in error.message:
        return document
    for uri in _redeclared(document):
        if failure({**schema, "$schema": uri}) is None:
            return declared(document, uri)
    # Only GitHub's were dropped: of SchemaStore one such record was published.
    if _about_regex(error) or not document.config.startswith("Github"):
        return document
    return Rejected(
        reason=Reason.UNRESOLVED_REFERENCE if lost else Reason.INVALID_SCHEMA,
        detail=shortened(error.message, _SHOWN),
    )


def _with_moved_required(value: UntypedJson) -> UntypedJson:
    """Return a value in which each list `required` has left its `properties`.

    It belongs to the object, as does a boolean `additionalProperties` beside it.
    """
    if isinstance(value, list):
        return [_with_moved_required(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {name: _with_moved_required(member) for name, member in value.items()}
    properties = value.get("properties")
    if not isinstance(properties, dict) or not isinstance(
        properties.get("required"), list
    ):
        return value
    stray = {"required": properties["required"]}
    if isinstance(properties.get("additionalProperties"), bool):
        stray["additionalProperties"] = properties["additionalProperties"]
    return {**value, "properties": without(properties, *stray), **stray}


def declared(document: Document, uri: str, *, rule: str = NAME) -> Document:
    """Return a document with another `$schema`."""
    root = document.schema
    is_declared = "$schema" in root
    change = change_at(rule, ("$schema",), root.get("$schema", ABSENT), uri)
    root = {**root, "$schema": uri} if is_declared else {"$schema": uri, **root}
    return document.changed(root, [change])


RULE = Rule(
    name=NAME,
    summary="What jsonschema-rs 0.60.3 cannot build under its declared draft is "
    "declared 2020-12 (with an empty `required`) or draft-07 if it builds then, unless "
    "a list `required` that leaves its `properties` is all that it needs; "
    "GitHub documents that still fail are dropped, unless over a pattern.",
    source="JSONSchemaBench paper, section 3.1 (schemas conform to the version they "
    "declare); 39 records declared 2020-12, 9 draft-07; 16 files would be dropped, "
    "of which the authors mended 4",
    apply=_apply,
    reasons=(Reason.UNRESOLVED_REFERENCE, Reason.INVALID_SCHEMA),
)
