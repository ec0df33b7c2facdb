"""The dialect of a document: as declared, or the newest draft that fits.

Values of `dialect_found`:

- `declared`: `$schema` names it, in a spelling that both validators know;
- `repaired`: `$schema` means it, but is misspelt, a hyper-schema, a vendor's
  metaschema or draft-03 in a schema that only later drafts can read;
- `upgraded`: the schema was draft-03, and was rewritten as draft-04;
- `inferred`: nothing is declared; the newest draft under which the schema is valid
  and in which every keyword that it uses has effect;
- `fitting`: the declared draft leaves nothing to use (rule `fitting-draft`);
- `mixed`: nothing is declared and no draft gives effect to every keyword; the
  newest under which it is valid (lint `mixed-drafts`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from curation.core.documents import ABSENT, Change, Document, Lint, Reason, Rejected
from curation.core.json_types import Json
from curation.json.pointer import Tokens, change_at
from curation.json.text import write
from curation.json.values import SameObject
from curation.schema.dialects import (
    ANY_DIALECT,
    DIALECTS,
    DRAFT_03,
    DRAFT_04,
    DRAFT_2020_12,
    Dialect,
)
from curation.schema.drafts import StatementKind, Usage, read, statement, usage, works
from curation.schema.subschemas import edited, subschemas
from curation.schema.translation import CannotUpgradeError, upgraded
from curation.validation.metaschemas import complaint, is_valid, valid_under

#: The rule of which the changes are.
RULE_NAME = "dialect"
#: The lint code of a schema that no draft gives effect to as a whole.
MIXED_DRAFTS = "mixed-drafts"
_NESTED = "a nested `$schema` makes validators change the dialect"
_NOTES = {
    StatementKind.HYPER: "the hyper-schema adds links to this draft",
    StatementKind.MISSPELT: "no validator knows this spelling",
    StatementKind.VENDOR: "a vendor's metaschema, built on this draft",
    StatementKind.SILENT: "no draft was declared",
}


def with_dialect(document: Document) -> Document | Rejected:
    """Return a document with its dialect and a `$schema` that declares it.

    It is rejected if no dialect fits.
    """
    declaration = statement(document.schema)
    if declaration.kind is StatementKind.UNKNOWN:
        uri = write(document.schema["$schema"])[:200]
        detail = f"`$schema` is {uri}"
        return Rejected(reason=Reason.UNSUPPORTED_DIALECT, detail=detail)
    if declaration.dialect is DRAFT_03:
        decided = _from_draft_03(document)
    elif declaration.dialect is not None:
        decision = "declared" if declaration.kind is StatementKind.EXACT else "repaired"
        decided = declare(
            document, declaration.dialect, decision, _NOTES.get(declaration.kind, "")
        )
    else:
        decided = _undeclared(document)
    return decided if isinstance(decided, Rejected) else _unswitched(decided)


def declare(
    document: Document,
    dialect: Dialect,
    decision: str,
    note: str,
    *,
    rule: str = RULE_NAME,
) -> Document:
    """Return the document with a dialect and a `$schema` that declares it.

    Args:
        document: Any document.
        dialect: Its dialect from now on.
        decision: How it was decided, for the record's column `dialect_found`.
        note: Why `$schema` changes, for the ledger.
        rule: The rule of which the change is.
    """
    schema = document.schema
    changes: list[Change] = []
    uri = schema.get("$schema")
    is_right = isinstance(uri, str) and works(uri, dialect)
    if not is_right and not (uri is None and dialect is DRAFT_2020_12):
        schema = (
            {"$schema": dialect.uri, **schema}
            if uri is None
            else {**schema, "$schema": dialect.uri}
        )
        before = ABSENT if uri is None else uri
        changes.append(change_at(rule, ("$schema",), before, dialect.uri, note))
    document = document.changed(schema, changes)
    return replace(document, dialect=dialect.name, dialect_found=decision)


def _undeclared(document: Document) -> Document | Rejected:
    used = usage(document.schema)
    fitting = inferred(document.schema, used)
    if fitting is not None and not fitting.mixed:
        return declare(
            document, fitting.dialect, "inferred", _NOTES[StatementKind.SILENT]
        )
    if used.old and not used.later:
        old = _upgraded(document)
        if isinstance(old, Document) and is_valid(old.schema, DRAFT_04):
            return old
    if fitting is None:
        why = complaint(document.schema, DRAFT_2020_12)
        detail = f"valid under no draft; under 2020-12, {why}"
        where = why.pointer if why else ""
        return Rejected(reason=Reason.INVALID_SCHEMA, detail=detail, pointer=where)
    newest = declare(document, fitting.dialect, "mixed", _NOTES[StatementKind.SILENT])
    return newest.flagged([Lint(code=MIXED_DRAFTS, pointer="")])


def _from_draft_03(document: Document) -> Document | Rejected:
    used = usage(document.schema)
    if not used.later:
        return _upgraded(document)
    if used.old:
        detail = (
            f"declares draft-03 and uses its {_joined(used.old)}, "
            f"but also {_joined(used.later)} of later drafts"
        )
        return Rejected(reason=Reason.UNSUPPORTED_DIALECT, detail=detail)
    note = f"draft-03 has no such {_joined(used.later)}"
    fitting = (
        dialect
        for dialect in DIALECTS
        if used.all_effective(dialect) and is_valid(document.schema, dialect)
    )
    return declare(document, next(fitting, DRAFT_04), "repaired", note)


def _upgraded(document: Document) -> Document | Rejected:
    try:
        schema, changes = upgraded(document.schema, RULE_NAME)
    except CannotUpgradeError as error:
        detail = f"draft-03: {error}"
        return Rejected(reason=Reason.UNSUPPORTED_DIALECT, detail=detail)
    note = "draft-03, brought to draft-04"
    return declare(document.changed(schema, changes), DRAFT_04, "upgraded", note)


def _joined(keywords: frozenset[str]) -> str:
    return ", ".join(sorted(keywords))


def _unswitched(document: Document) -> Document:
    """Return the document without a nested `$schema` that says something else.

    Both validators would change the dialect there.
    """
    name = document.dialect
    own = next(dialect for dialect in DIALECTS if dialect.name == name)
    count = sum(
        "$schema" in subschema for subschema in subschemas(document.schema, ANY_DIALECT)
    )
    if count <= ("$schema" in document.schema):
        return document
    changes: list[Change] = []

    def unsaid(tokens: Tokens, schema: Json) -> Json:
        if not tokens or not isinstance(schema, dict) or "$schema" not in schema:
            return schema
        uri = schema["$schema"]
        if isinstance(uri, str) and works(uri, own):
            return schema
        declaration = read(uri)
        note = _NOTES[declaration.kind] if declaration.dialect is own else _NESTED
        place = (*tokens, "$schema")
        changes.append(change_at(RULE_NAME, place, uri, ABSENT, note))
        return {name: value for name, value in schema.items() if name != "$schema"}

    return document.changed(edited(document.schema, ANY_DIALECT, unsaid), changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """The dialect that fits a schema which declares none."""

    dialect: Dialect
    #: Whether some keyword in use does nothing in it, as in every valid one.
    mixed: bool


def inferred(schema: Json, used: Usage) -> Inferred | None:
    """Return the newest draft that fits a schema, or None if it is valid in none.

    A draft fits if the schema is valid and every keyword in use has effect; otherwise
    the newest draft counts in which the schema is valid.
    """
    names = valid_under(schema)
    valid = [dialect for dialect in reversed(DIALECTS) if dialect.name in names]
    for dialect in valid:
        if used.all_effective(dialect):
            return Inferred(dialect=dialect, mixed=False)
    return Inferred(dialect=valid[0], mixed=True) if valid else None


def refused_by(schema: Json) -> Dialect | None:
    """Return the draft that a schema declares, if its metaschema refuses it."""
    dialect = statement(schema).dialect
    if dialect is None or dialect is DRAFT_03 or is_valid(schema, dialect):
        return None
    return dialect


def is_refused(schema: Json) -> bool:
    """Return whether the draft that a schema declares refuses it, or else each draft.

    Draft-03 counts as its upgrade to draft-04. Other people's metaschemas refuse
    nothing here.

    Example:
        >>> is_refused({"type": "bool"})
        True
        >>> is_refused({"properties": {"a": {"required": True}}})
        False
    """
    return _is_refused(SameObject(schema))


@lru_cache(maxsize=4)
def _is_refused(key: SameObject[Json]) -> bool:
    schema = key.value
    declaration = statement(schema)
    if declaration.kind is StatementKind.UNKNOWN:
        return False
    if declaration.dialect is not None and declaration.dialect is not DRAFT_03:
        return not is_valid(schema, declaration.dialect)
    return not valid_under(schema) and not _is_draft_03(schema)


def _is_draft_03(schema: Json) -> bool:
    used = usage(schema)
    if not used.old or used.later:
        return False
    try:
        return is_valid(upgraded(schema, "")[0], DRAFT_04)
    except CannotUpgradeError:
        return False
