"""The dialect of a document: as declared, otherwise as its words show.

Values of `dialect_found`:

- `declared`: `$schema` names it, in a spelling that both validators know;
- `repaired`: `$schema` means it, but is misspelt, a hyper-schema, a vendor's
  metaschema or draft-03 in a schema that only later drafts can read;
- `upgraded`: the schema was draft-03, and was rewritten as draft-04;
- `fitting`: the declared draft leaves nothing to use (rule `fitting-draft`);
- `words`: nothing is declared, and the words of the schema leave one draft;
- `prior`: nothing is declared, and among the drafts left by the words the schema gets
  the one that its source declares most often (`PRIORS`);
- `mixed`: nothing is declared and no draft gives effect to every keyword (lint
  `mixed-drafts`); decided by words and prior all the same.

An undeclared schema is always valid under the draft that it gets. `dialect_words` are
the keywords that spoke against some draft.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from curation.core.documents import ABSENT, Change, Document, Lint, Reason, Rejected
from curation.core.json_types import Json
from curation.json.pointer import Tokens, change_at, parse_tokens
from curation.json.text import write
from curation.json.values import remembered, searchable
from curation.schema.dialects import (
    ANY_DIALECT,
    BY_NAME,
    DIALECTS,
    DRAFT_03,
    DRAFT_04,
    DRAFT_06,
    DRAFT_07,
    DRAFT_2019_09,
    DRAFT_2020_12,
    Dialect,
)
from curation.schema.drafts import StatementKind, Usage, read, statement, usage, works
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.schema.subschemas import edited
from curation.schema.translation import CannotUpgradeError, upgraded
from curation.validation.metaschemas import complaint, complaints, is_valid, valid_under

#: The rule of which the changes are.
RULE_NAME = "dialect"
#: The lint code of a schema that no draft gives effect to as a whole.
MIXED_DRAFTS = "mixed-drafts"
#: The order in which what words leave open is decided: the current draft first, as the
#: Model Context Protocol and Pydantic have it.
NEWEST_FIRST = tuple(reversed(DIALECTS))
# As files of the GitHub corpus declare them, the most frequent first.
_CORPUS = (DRAFT_04, DRAFT_07, DRAFT_06, DRAFT_2019_09, DRAFT_2020_12)
#: The same by source, where its authors meant older drafts.
PRIORS: Mapping[str, Sequence[Dialect]] = {
    "github": _CORPUS,
    "corpus": _CORPUS,
    # The schemas of an OpenAPI 2.0 document, which are draft-04's.
    "kubernetes": _CORPUS,
}
_IDENTIFIERS = frozenset({"$id", "id"})
_NESTED = "a nested `$schema` makes validators change the dialect"
_NOTES = {
    StatementKind.HYPER: "the hyper-schema adds links to this draft",
    StatementKind.MISSPELT: "no validator knows this spelling",
    StatementKind.VENDOR: "a vendor's metaschema, built on this draft",
    StatementKind.SILENT: "no draft was declared",
}


def read_dialect(document: Document) -> Dialect:
    """Return the dialect of a document; the newest if it is not decided."""
    return BY_NAME[document.dialect or DRAFT_2020_12.name]


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
    order = PRIORS.get(document.provenance.source, NEWEST_FIRST)
    evidence = inferred(document.schema, used, order)
    mixed = evidence is None or evidence.evidence == "mixed"
    if mixed and used.old and not used.later:
        old = _upgraded(document)
        if isinstance(old, Document) and is_valid(old.schema, DRAFT_04):
            return old
    if evidence is None:
        why = complaint(document.schema, DRAFT_2020_12)
        detail = f"valid under no draft; under 2020-12, {why}"
        where = why.pointer if why else ""
        return Rejected(reason=Reason.INVALID_SCHEMA, detail=detail, pointer=where)
    note = _NOTES[StatementKind.SILENT]
    decided = declare(document, evidence.dialect, evidence.evidence, note)
    decided = replace(decided, dialect_words=evidence.words)
    return decided.flagged([Lint(code=MIXED_DRAFTS, pointer="")]) if mixed else decided


def _from_draft_03(document: Document) -> Document | Rejected:
    used = usage(document.schema)
    if not used.later:
        return _upgraded(document)
    later = ", ".join(sorted(used.later))
    if used.old:
        old = ", ".join(sorted(used.old))
        detail = (
            f"declares draft-03 and uses its {old}, but also {later} of later drafts"
        )
        return Rejected(reason=Reason.UNSUPPORTED_DIALECT, detail=detail)
    note = f"draft-03 has no such {later}"
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


def _unswitched(document: Document) -> Document:
    """Return the document without a nested `$schema` of another dialect.

    Both validators would change the dialect there.
    """
    dialect = BY_NAME[str(document.dialect)]
    count = searchable(document.schema).count(b'"$schema":')
    if count <= ("$schema" in document.schema):
        return document
    changes: list[Change] = []

    def unsaid(tokens: Tokens, schema: Json) -> Json:
        if not tokens or not isinstance(schema, dict) or "$schema" not in schema:
            return schema
        uri = schema["$schema"]
        if isinstance(uri, str) and works(uri, dialect):
            return schema
        declaration = read(uri)
        note = _NOTES[declaration.kind] if declaration.dialect is dialect else _NESTED
        path = (*tokens, "$schema")
        changes.append(change_at(RULE_NAME, path, uri, ABSENT, note))
        return {name: value for name, value in schema.items() if name != "$schema"}

    return document.changed(edited(document.schema, ANY_DIALECT, unsaid), changes)


class Inferred(NamedTuple):
    """The dialect of a schema that declares none, with the evidence."""

    dialect: Dialect
    #: `words`, `prior` or `mixed`, as for `dialect_found`.
    evidence: str
    #: The keywords that speak against some draft, sorted.
    words: tuple[str, ...]


def inferred(
    schema: Json, used: Usage, order: Sequence[Dialect] = NEWEST_FIRST
) -> Inferred | None:
    """Return the dialect that a schema shows, or None if it is valid in none.

    The schema is valid in it. Of those drafts the ones count that leave the fewest
    keywords without effect; first those that `id` or `$id`, then annotations and
    containers of definitions speak for, unless that leaves none.

    Args:
        schema: A schema without a usable `$schema`.
        used: The keywords that it uses.
        order: All drafts, the first of what stays counts. Keywords next to a `$ref` are
            evidence only if this one's first heeds them: authors of older drafts wrote
            them in vain.
    """
    names = valid_under(schema)
    drafts = [dialect for dialect in order if dialect.name in names]
    if not drafts:
        return None
    heeded = used.asserts_beside_ref and not order[0].ref_hides_siblings

    def idle(dialect: Dialect) -> int:
        return len(used.keywords - _IDENTIFIERS - dialect.effective)

    mixed = not any(
        used.keywords <= dialect.effective
        and not (heeded and dialect.ref_hides_siblings)
        for dialect in drafts
    )
    fewest = min(map(idle, drafts))
    drafts = [dialect for dialect in drafts if idle(dialect) == fewest]
    if heeded:
        drafts = [draft for draft in drafts if not draft.ref_hides_siblings] or drafts
    for word in (*sorted(used.keywords & _IDENTIFIERS), *sorted(used.telling)):
        drafts = [draft for draft in drafts if used.shown_by(word, draft)] or drafts
    evidence = "words" if len(drafts) == 1 else "prior"
    if mixed:
        evidence = "mixed"
    # The keywords that some draft lacks, or refuses with their values.
    words = {
        word
        for word in used.keywords | used.telling
        if not all(used.shown_by(word, dialect) for dialect in DIALECTS)
    }
    for dialect in DIALECTS:
        why = complaint(schema, dialect)
        tokens = reversed(parse_tokens(why.pointer)) if why else ()
        words |= {next((token for token in tokens if token in KNOWN_KEYWORDS), "")}
    return Inferred(
        dialect=drafts[0], evidence=evidence, words=tuple(sorted(words - {""}))
    )


def is_refused_as_meant(document: Document, repaired: Document) -> bool:
    """Return whether an undeclared schema is invalid in the draft that it shows.

    Args:
        document: A document before a lossless repair.
        repaired: The same after it.
    """
    schema = repaired.schema
    order = PRIORS.get(document.provenance.source, NEWEST_FIRST)
    inference = inferred(schema, usage(schema), order)
    return inference is not None and not is_valid(document.schema, inference.dialect)


def refused_by(schema: Json) -> Dialect | None:
    """Return the draft that a schema declares, if its metaschema refuses it."""
    dialect = statement(schema).dialect
    if dialect is None or dialect is DRAFT_03 or is_valid(schema, dialect):
        return None
    return dialect


def refusing(schema: Json) -> Dialect | None:
    """Return the draft that refuses a schema, or None unless `is_refused`.

    Where none is declared, all refuse it: the one with the fewest complaints counts,
    of two the newer.
    """
    if not is_refused(schema):
        return None
    return refused_by(schema) or min(
        reversed(DIALECTS), key=lambda dialect: len(complaints(schema, dialect))
    )


@remembered
def is_refused(schema: Json) -> bool:
    """Return whether the draft that a schema declares refuses it, otherwise each draft.

    Draft-03 counts as its upgrade to draft-04. Other people's metaschemas refuse
    nothing here.

    Example:
        >>> is_refused({"type": "bool"})
        True
        >>> is_refused({"properties": {"a": {"required": True}}})
        False
    """
    declaration = statement(schema)
    if declaration.kind is StatementKind.UNKNOWN:
        return False
    if declaration.dialect is not None and declaration.dialect is not DRAFT_03:
        return not is_valid(schema, declaration.dialect)
    if valid_under(schema):
        return False
    used = usage(schema)
    if not used.old or used.later:
        return True
    try:
        return not is_valid(upgraded(schema, "")[0], DRAFT_04)
    except CannotUpgradeError:
        return True
