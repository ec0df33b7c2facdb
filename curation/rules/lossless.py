"""Repairs that keep the one meaning of a text; each is a rule of the set `clean`."""

from __future__ import annotations

import re
from functools import cache

from curation.core.rule import (
    Change,
    Context,
    Document,
    Json,
    Library,
    Lint,
    Rejected,
    RepairKind,
    rule,
)
from curation.json.pointer import (
    Drop,
    Tokens,
    at,
    rewritten,
    tokens_of,
    tokens_of_fragment,
)
from curation.json.text import canonical, write
from curation.json.values import searchable
from curation.lint.satisfiability import refute
from curation.references.closure import Closure, closure_of
from curation.references.library import standard_document
from curation.references.reachable import applied
from curation.references.schema import Reference, Schema, follow_reference, schema_of
from curation.rules.editing import mended, mends_as_meant, with_schema
from curation.schema.dialects import ANY_DIALECT, BY_NAME, DIALECTS, DRAFT_04, Dialect
from curation.schema.drafts import usage
from curation.schema.subschemas import subschemas, without
from curation.schema.translation import BOUNDS, with_numeric_bounds
from curation.validation.dialect_decision import declare, is_refused, refused_by
from curation.validation.metaschemas import is_valid


@rule(
    "equal-members",
    summary="Members of one object with equal names and equal values become one; a "
    "document in which such values differ is not read at all.",
    source="RFC 8259, section 4: what is made of equal names is left to the reader, "
    "and every reader makes the same of equal members",
    repair=RepairKind.LOSSLESS,
)
def equal_members(document: Document, _context: Context) -> Document:
    """Members that an object has more than once, equal each time, are one member."""
    changes = []
    for merged in document.merged:
        tokens = tokens_of(merged.pointer)
        name, value = write(tokens[-1]), write(at(document.schema, tokens))
        member = f"{name}: {value}"
        changes.append(
            Change(
                rule=equal_members.name,
                pointer=merged.pointer,
                before=f"{{{member}, {member}}}",
                after=f"{{{member}}}",
                note=f"stood there {merged.times} times, equal each time",
            )
        )
    return document.changed(document.schema, changes) if changes else document


@mends_as_meant(
    "empty-lists",
    summary="`required: []`, `items: []` and dependencies on nothing are dropped where "
    "the schema's own draft does not allow them; that of an undeclared schema is the "
    "one that its words then show.",
    source="Draft-04 validation, sections 5.3.1, 5.4.3 and 5.4.5 want one entry; from "
    "draft-06 on an empty `required` is legal and asks nothing",
    note="an empty list asks nothing",
)
def empty_lists(schema: dict[str, Json]) -> dict[str, Json]:
    """Empty lists where a draft wants an entry."""
    if schema.get("required") == []:
        schema = without(schema, "required")
    if schema.get("items") == [] and "additionalItems" not in schema:
        schema = without(schema, "items")
    needed = schema.get("dependencies")
    if isinstance(needed, dict) and [] in needed.values():
        nonempty = {name: value for name, value in needed.items() if value != []}
        schema = {**schema, "dependencies": nonempty}
    return schema


_LISTS = ("required", "enum", "type")


@mends_as_meant(
    "repeated-values",
    summary="Of equal entries of `required`, `enum`, `type` and of a dependency the "
    "first stays, where the schema's own draft does not allow them.",
    source="Draft-04 validation, sections 5.4.3, 5.5.1 and 5.5.2: entries are unique; "
    "all of these keywords ask whether something is among them",
    note="an entry says no more the second time",
)
def repeated_values(schema: dict[str, Json]) -> dict[str, Json]:
    """Repeated entries in lists of names, types or values."""
    for keyword in _LISTS:
        once = _once(schema.get(keyword))
        if once is not None:
            schema = {**schema, keyword: once}
    needed = schema.get("dependencies")
    if isinstance(needed, dict):
        fewer = {name: once for name, names in needed.items() if (once := _once(names))}
        if fewer:
            schema = {**schema, "dependencies": {**needed, **fewer}}
    return schema


def _once(values: Json) -> list[Json] | None:
    """Return a list with each value once, or None if it is so already."""
    if not isinstance(values, list):
        return None
    first: dict[bytes, Json] = {}
    for value in values:
        first.setdefault(canonical(value), value)
    return None if len(first) == len(values) else list(first.values())


@rule(
    "exclusive-bounds",
    summary="From draft-06 on a boolean `exclusiveMinimum` or `exclusiveMaximum` is "
    "written as the number beside it; one without a bound to make strict is dropped.",
    source="Draft-04 validation, sections 5.1.2 and 5.1.3; draft-06 validation, "
    "sections 6.3 and 6.5",
    repair=RepairKind.LOSSLESS,
)
def exclusive_bounds(document: Document, _context: Context) -> Document:
    """Boolean `exclusiveMinimum` and `exclusiveMaximum` where a draft wants numbers."""
    if not is_refused(document.schema):
        return document
    old = refused_by(document.schema) is DRAFT_04
    mend = _without_idle if old else with_numeric_bounds
    return mended(
        document, exclusive_bounds.name, mend, "boolean until draft-04, a number since"
    )


def _without_idle(schema: dict[str, Json]) -> dict[str, Json]:
    for exclusive, bound in BOUNDS:
        if isinstance(schema.get(exclusive), bool) and bound not in schema:
            schema = without(schema, exclusive)
    return schema


#: Lint code of a record that declares another draft than the one it is read by.
OTHER_DRAFT = "other-draft"
#: How a dialect was found that somebody declared.
_DECLARED = frozenset({"declared", "repaired"})


@rule(
    "fitting-draft",
    summary="A schema that its declared draft makes invalid, unsatisfiable or "
    "impossible to resolve takes the nearest draft that does not and that gives every "
    "keyword effect.",
    source="JSON Schema core, `$schema`: it names the draft that the author wrote for; "
    "six GitHub files declare draft-04 and branch by `const`, which came with draft-06",
    repair=RepairKind.LOSSLESS,
    lints={OTHER_DRAFT: "`$schema` said another draft, by which nothing could be used"},
)
def fitting_draft(document: Document, context: Context) -> Document:
    """Another draft for a schema that its declared draft makes unusable."""
    own = BY_NAME[document.dialect or "2020-12"]
    if document.dialect_found not in _DECLARED or _works(document, own, context):
        return document
    used = usage(document.schema)
    for other in _nearest(own):
        if not used.all_effective(other) or not is_valid(document.schema, other):
            continue
        note = f"no instance and no validator could use it as {own.name}"
        fitting = declare(document, other, "fitting", note, rule=fitting_draft.name)
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


_NOT_REFERRED_TO = (
    "`#` meant the whole document; nothing else refers to this identifier"
)


@rule(
    "shadowing-identifiers",
    summary="Where a reference leads nowhere because a nested identifier made it start "
    "there instead of at the root, and nothing refers to that identifier, the "
    "identifier goes.",
    source="JSON Schema core on `$id` (draft-04: `id`): it changes the base URI of "
    "every reference inside; eleven GitHub files use it as a name",
    repair=RepairKind.LOSSLESS,
)
def shadowing_identifiers(document: Document, _context: Context) -> Document:
    """Nested identifiers whose only effect is to hide the targets of references."""
    dialect = BY_NAME[document.dialect or "2020-12"]
    schema: Json = document.schema
    if not _may_be_shadowed(schema, dialect):
        return document
    read = schema_of(schema, dialect, document.base_uri or "")
    targets = _targets(read)
    hiding = {
        resource
        for (tokens, _), target in targets.items()
        if target is None
        for resource in read.inner_resources
        if tokens[: len(resource)] == resource
    }
    edits = {(*resource, dialect.id_keyword): Drop() for resource in hiding}
    without = rewritten(schema, edits)
    after = _targets(Schema(without, dialect, document.base_uri or ""))
    if not hiding or not _only_better(schema, targets, after):
        return document
    return with_schema(
        document, shadowing_identifiers.name, without, note=_NOT_REFERRED_TO
    )


def _may_be_shadowed(schema: Json, dialect: Dialect) -> bool:
    holders = list(subschemas(schema, dialect))
    return any("$ref" in holder for holder in holders) and any(
        isinstance(holder.get(dialect.id_keyword), str) and holder is not schema
        for holder in holders
    )


#: From where a reference stands, with its text, to where it leads; None for nowhere.
_Targets = dict[tuple["Tokens", str], "Tokens | None"]


def _targets(document: Schema) -> _Targets:
    return {
        (reference.tokens, reference.text): target.tokens if target else None
        for reference in document.references
        for target in [document.lookup(reference.text, reference.base)]
    }


def _only_better(schema: Json, before: _Targets, after: _Targets) -> bool:
    """Return whether what led somewhere leads there still, and the rest to its path."""
    expected = {
        place: _path(schema, place[1]) if target is None else target
        for place, target in before.items()
    }
    return after == expected and after != before


def _path(schema: Json, reference: str) -> Tokens | None:
    """Return where a pointer leads if it starts from the root of the document."""
    if not reference.startswith("#/"):
        return None
    tokens = tokens_of_fragment(reference)
    try:
        at(schema, tokens)
    except LookupError:
        return None
    return tokens


_LEADS_NOWHERE = "it leads nowhere, and nothing applies the schema that holds it"


@rule(
    "dead-references",
    summary="A `$ref` that leads nowhere is dropped where no applicator and no other "
    "reference leads to the schema that holds it.",
    source="JSON Schema core: `definitions` apply nothing by themselves, and up to "
    "draft-07 a `$ref` hides its siblings",
    repair=RepairKind.LOSSLESS,
)
def dead_references(document: Document, context: Context) -> Document:
    """References that lead nowhere, in schemas that nothing applies."""
    dialect = BY_NAME[document.dialect or "2020-12"]
    if not any("$ref" in schema for schema in subschemas(document.schema, dialect)):
        return document
    # What is resolved without the document's own address is so with it.
    if isinstance(closure_of(schema_of(document.schema, dialect)), Closure):
        return document
    read = schema_of(document.schema, dialect, document.base_uri or "")
    if isinstance(closure_of(read, context.library), Closure):
        return document
    living = applied(read)
    edits = {
        (*reference.tokens, reference.keyword): Drop()
        for reference in read.references
        if reference.tokens not in living
        and not _leads_somewhere(reference, read, context.library)
    }
    return with_schema(
        document,
        dead_references.name,
        rewritten(document.schema, edits),
        note=_LEADS_NOWHERE,
    )


def _leads_somewhere(reference: Reference, document: Schema, library: Library) -> bool:
    def load(uri: str) -> Schema | None:
        schema: Json = library.get(uri)
        if schema is None and (schema := standard_document(uri)) is None:
            return None
        return Schema(schema, document.dialect, uri)

    try:
        target = follow_reference(reference.text, reference.base, [document], load)
    except (LookupError, ValueError):
        return False
    return target is not None
