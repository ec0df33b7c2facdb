"""Another draft for a schema that its declared draft makes unusable."""

from __future__ import annotations

import re
from functools import cache

from curation.core.rule import Context, Document, Json, Lint, Rejected, RepairKind, Rule
from curation.json.values import searchable
from curation.lint.satisfiability import refute
from curation.references.closure import closure_of
from curation.references.schema import schema_of
from curation.schema.dialects import ANY_DIALECT, BY_NAME, DIALECTS, Dialect
from curation.schema.drafts import usage
from curation.validation.dialect_decision import declare
from curation.validation.metaschemas import is_valid

_NAME = "fitting-draft"
#: Lint code of a record that declares another draft than the one it is read by.
OTHER_DRAFT = "other-draft"
#: How a dialect was found that somebody declared.
_DECLARED = frozenset({"declared", "repaired"})


def _apply(document: Document, context: Context) -> Document:
    own = BY_NAME[document.dialect or "2020-12"]
    if document.dialect_found not in _DECLARED or _works(document, own, context):
        return document
    used = usage(document.schema)
    for other in _nearest(own):
        if not used.all_effective(other) or not is_valid(document.schema, other):
            continue
        note = f"no instance and no validator could use it as {own.name}"
        fitting = declare(document, other, "fitting", note, rule=_NAME)
        if _builds(fitting.schema, other, document, context):
            return fitting.flagged([Lint(code=OTHER_DRAFT, pointer="/$schema")])
    return document


def _works(document: Document, dialect: Dialect, context: Context) -> bool:
    """Return whether a document can be used as what it declares.

    Where all keywords have effect another draft could change nothing, so that only
    documents with a keyword of another draft are looked at closely.
    """
    if not is_valid(document.schema, dialect):
        return False
    if not _foreign(dialect.name).search(searchable(document.schema)):
        return True
    if usage(document.schema).keywords <= dialect.effective:
        return True
    return _builds(document.schema, dialect, document, context)


@cache
def _foreign(dialect: str) -> re.Pattern[bytes]:
    """Return what the text of a schema meets if it has a keyword of another draft."""
    names = sorted(ANY_DIALECT.effective - BY_NAME[dialect].effective)
    return re.compile(rb'"(?:%b)":' % b"|".join(map(re.escape, map(str.encode, names))))


def _builds(
    schema: Json, dialect: Dialect, document: Document, context: Context
) -> bool:
    read = schema_of(schema, dialect, document.base_uri or "")
    if isinstance(closure_of(read, context.library), Rejected):
        return False
    return refute(schema, dialect) is None


def _nearest(own: Dialect) -> list[Dialect]:
    """Return the other drafts, the nearest first, of two the newer."""
    place = DIALECTS.index(own)
    candidates = [dialect for dialect in DIALECTS if dialect is not own]
    return sorted(
        candidates,
        key=lambda other: (
            abs(DIALECTS.index(other) - place),
            DIALECTS.index(other) < place,
        ),
    )


RULE = Rule(
    name=_NAME,
    summary="A schema that its declared draft makes invalid, unsatisfiable or "
    "impossible to resolve takes the nearest draft that does not and that gives every "
    "keyword effect.",
    source="JSON Schema core, `$schema`: it names the draft that the author wrote for; "
    "six GitHub files declare draft-04 and branch by `const`, which came with draft-06",
    apply=_apply,
    repair=RepairKind.LOSSLESS,
    lints={OTHER_DRAFT: "`$schema` said another draft, by which nothing could be used"},
)
