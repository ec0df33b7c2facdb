"""Edits of a document's subschemas, with every difference in its changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from curation.core.rule import (
    ABSENT,
    Context,
    Document,
    Json,
    RepairKind,
    Rule,
    rule,
)
from curation.json.pointer import Tokens, change_at
from curation.schema.dialects import ANY_DIALECT, DIALECTS, Dialect
from curation.schema.drafts import StatementKind, statement
from curation.schema.subschemas import edited
from curation.validation.dialect_decision import is_refused, is_refused_as_meant
from curation.validation.metaschemas import valid_under

if TYPE_CHECKING:
    #: From a subschema's members to what they shall be; the same object where nothing
    #: changes.
    MendMembers = Callable[[dict[str, Json]], dict[str, Json]]


def mended(
    document: Document,
    rule_name: str,
    mend: MendMembers,
    note: str,
    dialect: Dialect = ANY_DIALECT,
) -> Document:
    """Return the document with each subschema replaced by what `mend` makes of it.

    Args:
        document: Any document; it is returned as it is where nothing changes.
        rule_name: The name that the changes bear.
        mend: Called with each subschema that is an object, inner ones first.
        note: Why, for the ledger.
        dialect: Decides what is a subschema.
    """

    def edit(_tokens: Tokens, schema: Json) -> Json:
        return mend(schema) if isinstance(schema, dict) else schema

    return with_schema(
        document, rule_name, edited(document.schema, dialect, edit), note=note
    )


def mends_as_meant(
    name: str, *, summary: str, source: str, note: str
) -> Callable[[MendMembers], Rule]:
    """Make a lossless rule, for schemas that their draft refuses, of what it mends.

    The draft of an undeclared schema is the one that it shows once it is mended.

    Args:
        name: As for a `Rule`.
        summary: As for a `Rule`.
        source: As for a `Rule`.
        note: Why, for the ledger.
    """

    def of(mend: MendMembers) -> Rule:
        def apply(document: Document, _context: Context) -> Document:
            refused = is_refused(document.schema)
            declared = statement(document.schema).kind is not StatementKind.SILENT
            # Nothing is to be mended where every draft accepts the schema.
            accepted = declared or len(valid_under(document.schema)) == len(DIALECTS)
            if accepted and not refused:
                return document
            repaired = mended(document, name, mend, note)
            kept = refused or is_refused_as_meant(document, repaired)
            return repaired if kept else document

        made = rule(name, summary=summary, source=source, repair=RepairKind.LOSSLESS)
        return made(apply)

    return of


def with_schema(
    document: Document, rule_name: str, schema: Json, *, note: str
) -> Document:
    """Return the document with another schema, and a change for every difference."""
    if schema is document.schema:
        return document
    return document.changed(
        schema,
        [
            change_at(rule_name, tokens, before, after, note)
            for tokens, before, after in differences((), document.schema, schema)
        ],
    )


def differences(
    tokens: Tokens, before: Json, after: Json
) -> Iterator[tuple[Tokens, Json, Json]]:
    """Yield where two values differ, as deep inside as possible, and both values.

    A value is `ABSENT` if there is none on its side.
    """
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name, member in before.items():
            if name in after:
                yield from differences((*tokens, name), member, after[name])
            else:
                yield (*tokens, name), member, ABSENT
        for name, member in after.items():
            if name not in before:
                yield (*tokens, name), ABSENT, member
    elif (
        isinstance(before, list)
        and isinstance(after, list)
        and len(before) == len(after)
    ):
        for index, (item, other) in enumerate(zip(before, after, strict=True)):
            yield from differences((*tokens, str(index)), item, other)
    else:
        yield tokens, before, after
