"""Repairs that keep the one meaning of a text; each is a rule of the set `clean`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from curation.core.rule import (
    Change,
    Context,
    Document,
    Json,
    Lint,
    RepairKind,
    Rule,
    rule,
)
from curation.json.pointer import (
    Drop,
    Tokens,
    at,
    parse_tokens,
    rewritten,
    tokens_of_fragment,
)
from curation.json.text import canonical, write
from curation.json.values import searchable
from curation.lint.satisfiability import refute
from curation.references.closure import (
    NO_LIBRARY,
    Closure,
    find_closure,
    found_document,
)
from curation.references.reachable import applied
from curation.references.schema import Schema, follow_reference, to_schema
from curation.rules.guard import with_schema
from curation.schema.dialects import ANY_DIALECT, DIALECTS, DRAFT_04, Dialect
from curation.schema.drafts import StatementKind, statement, usage
from curation.schema.subschemas import edited_objects, subschemas, without
from curation.schema.translation import BOUNDS, with_numeric_bounds
from curation.validation.dialect_decision import (
    declare,
    is_refused,
    is_refused_as_meant,
    read_dialect,
    refused_by,
)
from curation.validation.metaschemas import is_valid, valid_under

#: From a subschema's members to what they shall be; the same object where nothing
#: changes.
_Mend = Callable[[dict[str, Json]], dict[str, Json]]


def _mended(document: Document, rule_name: str, mend: _Mend, note: str) -> Document:
    """Return the document with each subschema replaced by its repair."""
    schema = edited_objects(document.schema, ANY_DIALECT, mend)
    return with_schema(document, rule_name, schema, note=note)


def _mends_as_meant(
    name: str, *, summary: str, source: str, note: str
) -> Callable[[_Mend], Rule]:
    """Make a rule, for schemas that their draft refuses, from a repair.

    The draft of an undeclared schema is the one that it shows once it is repaired.
    """

    def of(mend: _Mend) -> Rule:
        @rule(name, summary=summary, source=source, repair=RepairKind.LOSSLESS)
        def apply(document: Document, _context: Context) -> Document:
            refused = is_refused(document.schema)
            declared = statement(document.schema).kind is not StatementKind.SILENT
            # A schema that every draft accepts needs no repair.
            accepted = declared or len(valid_under(document.schema)) == len(DIALECTS)
            if accepted and not refused:
                return document
            repaired = _mended(document, name, mend, note)
            accepts_repair = refused or is_refused_as_meant(document, repaired)
            return repaired if accepts_repair else document

        return apply

    return of


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
        tokens = parse_tokens(merged.pointer)
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


@_mends_as_meant(
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


@_mends_as_meant(
    "repeated-values",
    summary="Of equal entries of `required`, `enum`, `type` and of a dependency the "
    "first stays, where the schema's own draft does not allow them.",
    source="Draft-04 validation, sections 5.4.3, 5.5.1 and 5.5.2: entries are unique; "
    "all of these keywords ask whether something is among them",
    note="an entry says no more the second time",
)
def repeated_values(schema: dict[str, Json]) -> dict[str, Json]:
    """Repeated entries in lists of names, types or values."""
    for keyword in ("required", "enum", "type"):
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
    unique: dict[bytes, Json] = {}
    for value in values:
        unique.setdefault(canonical(value), value)
    return None if len(unique) == len(values) else list(unique.values())


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

    def without_idle(schema: dict[str, Json]) -> dict[str, Json]:
        for exclusive, bound in BOUNDS:
            if isinstance(schema.get(exclusive), bool) and bound not in schema:
                schema = without(schema, exclusive)
        return schema

    is_old = refused_by(document.schema) is DRAFT_04
    mend = without_idle if is_old else with_numeric_bounds
    note = "boolean until draft-04, a number since"
    return _mended(document, exclusive_bounds.name, mend, note)


#: Lint code of a record that declares another draft than the one it is read by.
OTHER_DRAFT = "other-draft"


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
    schema, declared = document.schema, read_dialect(document)
    if document.dialect_found not in ("declared", "repaired"):
        return document

    def builds(schema: Json, dialect: Dialect) -> bool:
        read = to_schema(schema, dialect, document.base_uri or "")
        resolved = isinstance(find_closure(read, context.library), Closure)
        return resolved and refute(schema, dialect) is None

    # Where all keywords have effect another draft could change nothing, so that only
    # documents with a keyword of another draft are looked at closely.
    if is_valid(schema, declared) and (
        not _foreign_keywords(declared).search(searchable(schema))
        or usage(schema).keywords <= declared.effective
        or builds(schema, declared)
    ):
        return document
    used = usage(schema)
    start = DIALECTS.index(declared)
    # The nearest first, of two the newer.
    nearest = sorted(
        range(len(DIALECTS)), key=lambda index: (abs(index - start), index < start)
    )
    for candidate in [DIALECTS[index] for index in nearest[1:]]:
        if not used.all_effective(candidate) or not is_valid(schema, candidate):
            continue
        note = f"no instance and no validator could use it as {declared.name}"
        fitting = declare(document, candidate, "fitting", note, rule=fitting_draft.name)
        if builds(fitting.schema, candidate):
            return fitting.flagged([Lint(code=OTHER_DRAFT, pointer="/$schema")])
    return document


@cache
def _foreign_keywords(dialect: Dialect) -> re.Pattern[bytes]:
    """Return the pattern of texts with a keyword of another draft."""
    names = sorted(ANY_DIALECT.effective - dialect.effective)
    return re.compile(rb'"(?:%b)":' % b"|".join(map(re.escape, map(str.encode, names))))


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
    dialect, schema = read_dialect(document), document.schema
    holders = subschemas(schema, dialect)
    if not any("$ref" in holder for holder in holders) or not any(
        isinstance(holder.get(dialect.id_keyword), str) and holder is not schema
        for holder in holders
    ):
        return document
    read = to_schema(schema, dialect, document.base_uri or "")
    targets = _targets(read)
    hiding = {
        resource
        for (tokens, _), target in targets.items()
        if target is None
        for resource in read.inner_resources
        if tokens[: len(resource)] == resource
    }
    edits = {(*resource, dialect.id_keyword): Drop() for resource in hiding}
    revealed = rewritten(schema, edits)
    # What led somewhere must lead there still, and the rest to its path.
    expected = {
        path: _path_from_root(schema, path[1]) if target is None else target
        for path, target in targets.items()
    }
    after = _targets(Schema(revealed, dialect, document.base_uri or ""))
    if not hiding or after != expected or after == targets:
        return document
    note = "`#` meant the whole document; nothing else refers to this identifier"
    return with_schema(document, shadowing_identifiers.name, revealed, note=note)


def _targets(document: Schema) -> dict[tuple[Tokens, str], Tokens | None]:
    """Return place and text of each reference to where it leads; None for nowhere."""
    return {
        (reference.tokens, reference.text): target.tokens if target else None
        for reference in document.references
        for target in [document.lookup(reference.text, reference.base)]
    }


def _path_from_root(schema: Json, reference: str) -> Tokens | None:
    """Return where a pointer leads if it starts from the root of the document."""
    if not reference.startswith("#/"):
        return None
    tokens = tokens_of_fragment(reference)
    try:
        at(schema, tokens)
    except LookupError:
        return None
    return tokens


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
    dialect = read_dialect(document)
    if not any("$ref" in schema for schema in subschemas(document.schema, dialect)):
        return document
    # What is resolved without the document's own address is so with it.
    alone = to_schema(document.schema, dialect)
    if isinstance(find_closure(alone, NO_LIBRARY), Closure):
        return document
    read = to_schema(document.schema, dialect, document.base_uri or "")
    if isinstance(find_closure(read, context.library), Closure):
        return document

    def load(uri: str) -> Schema | None:
        value = found_document(context.library, uri)
        return None if value is None else Schema(value, dialect, uri)

    living = applied(read)
    edits: dict[Tokens, Drop] = {}
    for reference in read.references:
        if reference.tokens in living:
            continue
        try:
            target = follow_reference(reference.text, reference.base, [read], load)
        except (LookupError, ValueError):
            target = None
        if target is None:
            edits[(*reference.tokens, reference.keyword)] = Drop()
    dropped = rewritten(document.schema, edits)
    note = "it leads nowhere, and nothing applies the schema that holds it"
    return with_schema(document, dead_references.name, dropped, note=note)
