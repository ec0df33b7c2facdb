"""Rules of the set `clean` that select documents, and make records of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import unquote

from curation.core.json_types import UntypedJson
from curation.core.rule import (
    ABSENT,
    Change,
    Context,
    Document,
    Json,
    Origin,
    Reason,
    Rejected,
    rule,
)
from curation.json import credentials
from curation.json.pointer import (
    Drop,
    Put,
    Tokens,
    at,
    change_at,
    parse_tokens,
    pointer,
    rewritten,
    to_fragment,
    upwards,
)
from curation.json.values import canonical_of_part, objects, searchable
from curation.lint.lint import CODES, lints
from curation.lint.satisfiability import Proof, refute, refute_inside
from curation.references.bundling import bundle_record
from curation.references.closure import NO_LIBRARY, Closure, find_closure
from curation.references.reachable import endless, taking_part
from curation.references.schema import Reference, legal, to_schema
from curation.references.verdicts import both_verdicts, disputed
from curation.schema.dialects import ANY_DIALECT, Dialect
from curation.schema.keywords import ANNOTATIONS, KNOWN_KEYWORDS, Shape
from curation.schema.roots import asks_nothing, embedded, entries, looks_like_a_schema
from curation.schema.subschemas import SchemaLocation, edited, join, walk
from curation.system.words import counted
from curation.validation.dialect_decision import (
    MIXED_DRAFTS,
    RULE_NAME,
    read_dialect,
    with_dialect,
)
from curation.validation.metaschemas import (
    complaint,
    python_complaint,
    validators_may_differ,
)
from curation.validation.patterns import pattern_verdict
from curation.workers.limits import too_many


def _rejected(reason: Reason, tokens: Tokens, problem: str) -> Rejected:
    where = pointer(tokens)
    detail = f"{where or '(root)'}: {problem}"
    return Rejected(reason=reason, detail=detail, pointer=where)


@rule(
    "array-root",
    summary="Unwrap an array of one object; drop other roots that are no object.",
    source="JSON Schema draft-04 core, section 3.2: a schema is an object; ten files "
    "of the GitHub corpus hold an array",
    reasons=(Reason.NOT_A_SCHEMA,),
)
def array_root(document: Document, _context: Context) -> Document | Rejected:
    """Unwrap an array of one object; reject every other root but an object.

    `true` and `false` are schemas from draft-06 on, but nothing to benchmark.
    """
    root = document.schema
    if isinstance(root, dict):
        return document
    if isinstance(root, list) and len(root) == 1 and isinstance(root[0], dict):
        note = "the one object of an array is the schema"
        change = change_at(array_root.name, (), root, root[0], note)
        return document.changed(root[0], [change])
    kind = "a string" if isinstance(root, str) else "a number"
    if isinstance(root, list):
        kind = f"an array of {len(root)} that holds no single object"
    elif isinstance(root, bool):
        kind = "a boolean, which leaves nothing to benchmark"
    elif root is None:
        kind = "null"
    return Rejected(reason=Reason.NOT_A_SCHEMA, detail=f"the root is {kind}")


_MARK = "${"
#: Words whose value is text: nothing in there counts.
_TEXT = ANNOTATIONS - {"$schema"} | {"example"}
#: `${` in a pattern is a regular expression, right or wrong.
_PATTERNS = frozenset({"pattern", "patternProperties"})
#: Keywords whose value is data that the meaning hangs on: everything in it counts.
_DATA = frozenset({"enum", "const"})
_KEYWORDS = ANY_DIALECT.effective | {"$schema"}
_MAPS = frozenset({Shape.MAP, Shape.DEPENDENCIES})


def _marks(value: Json, tokens: Tokens, *, strings: bool) -> Iterator[Tokens]:
    """Yield the marked keys, and strings if they count, at any depth of a value."""
    if isinstance(value, str):
        if strings and _MARK in value:
            yield tokens
    elif isinstance(value, dict):
        for name, inner in value.items():
            if _MARK in name:
                yield (*tokens, name)
            yield from _marks(inner, (*tokens, name), strings=strings)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _marks(inner, (*tokens, str(index)), strings=strings)


def _marks_of_schema(location: SchemaLocation) -> Iterator[Tokens]:
    """Yield the marks of one schema, without the schemas inside it."""
    for keyword, value in location.keywords.items():
        tokens = (*location.tokens, keyword)
        if _MARK in keyword:
            yield tokens
        elif keyword in _TEXT or keyword in _PATTERNS:
            continue
        elif keyword in _DATA or keyword not in _KEYWORDS:
            yield from _marks(value, tokens, strings=keyword in _DATA)
        else:
            members = [(tokens, value)]
            shape = ANY_DIALECT.applicators.get(keyword)
            if isinstance(value, dict) and shape in _MAPS:
                members = [((*tokens, name), inner) for name, inner in value.items()]
            for path, inner in members:
                if _MARK in path[-1]:
                    yield path
                # A text, or the texts of a list: other elements are schemas.
                texts = inner
                if isinstance(inner, list):
                    texts = [item for item in inner if isinstance(item, str)]
                if isinstance(texts, str | list):
                    yield from _marks(texts, path, strings=True)


@rule(
    "template",
    summary="Drop files in which `${` stands in a key, a reference or identifier, a "
    "type, enum or const, or where a schema is expected; in a pattern it is none.",
    source="JSONSchemaBench, appendix A.1, which drops every file that holds `${`; "
    "most of those only mention it in a description",
    reasons=(Reason.TEMPLATE,),
)
def template(document: Document, _context: Context) -> Document | Rejected:
    """Reject files in which the value of `${` would decide the meaning.

    In a text for people, a default or an example `${` is text, and so it is in the
    value of a keyword that no draft knows. A key with `${` rejects, unless it is a
    pattern.
    """
    if _MARK.encode() not in searchable(document.schema):
        return document
    for location in walk(document.schema, ANY_DIALECT):
        for tokens in _marks_of_schema(location):
            where = pointer(tokens)
            detail = f"`{_MARK}` at {where}"
            return Rejected(reason=Reason.TEMPLATE, detail=detail, pointer=where)
    return document


#: The tool that the copies were edited for knew no more than the old keywords.
_LIVING: dict[str, str] = {
    "_format": "format",
    "_uniqueItems": "uniqueItems",
    "_id": "id",
    "_$id": "$id",
}
#: Folder of the edited copies in their archive.
_EDITED = "expDataset/"


@rule(
    "dead-keywords",
    summary="Call `_format`, `_uniqueItems`, `_id` and `_$id` by their names again "
    "where they stand as keywords of an edited copy; drop them elsewhere.",
    source="Comparison of the edited copies of JSONSchemaWitnessGeneration with their "
    "upstream files: 7,833 places of `_format` alone",
)
def dead_keywords(document: Document, _context: Context) -> Document:
    """Leave none of the four names in keyword position.

    In an edited copy they get their names back, in their old place, unless the
    living name is taken. Anywhere else they are an author's own names, which no
    draft knows: without them the schema says the same, and no one takes it for an
    edited one. The user's own schemas are left alone.
    """
    if document.provenance.origin is Origin.LOCAL:
        return document
    text = searchable(document.schema)
    if not any(b'"%s":' % name.encode() in text for name in _LIVING):
        return document
    renames = _EDITED in document.provenance.path
    rule_name, changes = dead_keywords.name, list[Change]()

    def revive(tokens: Tokens, schema: Json) -> Json:
        if not isinstance(schema, dict) or _LIVING.keys().isdisjoint(schema):
            return schema
        result: dict[str, Json] = {}
        for keyword, value in schema.items():
            name = _LIVING.get(keyword)
            if name is None:
                result[keyword] = value
            elif renames and name not in schema:
                result[name] = value
                before, after = {keyword: value}, {name: value}
                changes.append(change_at(rule_name, (*tokens, name), before, after))
            else:
                note = "does nothing in any draft"
                path = (*tokens, keyword)
                changes.append(change_at(rule_name, path, value, ABSENT, note))
        return result

    return document.changed(edited(document.schema, ANY_DIALECT, revive), changes)


@rule(
    "reject-secret",
    summary="A document with text in a known credential format is dropped; the "
    "value is never written down.",
    source="As the issuers document them (curation/system/credentials.py)",
    reasons=(Reason.SECRET,),
)
def secret(document: Document, _context: Context) -> Document | Rejected:
    """Reject documents with a credential."""
    credential = credentials.find_credential(document.schema)
    if credential is None:
        return document
    where = credential.pointer or "(root)"
    detail = f"{where} holds text in the format of: {credential.format}"
    return Rejected(
        reason=Reason.SECRET,
        detail=detail,
        rule=secret.name,
        pointer=credential.pointer,
    )


@rule(
    "promote-embedded",
    summary="A root that declares and restricts nothing, with a member that has a "
    "`$schema` of its own, gives way to the first such member.",
    source="JSONSchemaBench paper, Appendix A (extraneous field removal), kept to "
    "depth 1 and to roots that restrict nothing in any draft",
)
def promote(document: Document, _context: Context) -> Document:
    """Promote a schema embedded in a file about something else."""
    name = embedded(document.schema)
    if name is None:
        return document
    inner = document.schema[name]
    siblings = [sibling for sibling in document.schema if sibling != name]
    note = f"the schema stood under {pointer((name,))}"
    if siblings:
        note = f"{note}, beside {counted(len(siblings), 'other member')}"
    return document.changed(
        inner, [change_at(promote.name, (), document.schema, inner, note)]
    )


@rule(
    "wrap-library",
    summary="A library of definitions whose root restricts nothing becomes `type: "
    "object` with an optional property for each definition.",
    source="JSONSchemaBench paper, Appendix A (wrapping of definitions), without its "
    "`required`, which no instance of a recursive definition can meet, and with a type",
)
def wrap(document: Document, _context: Context) -> Document:
    """Wrap a library of definitions: an object that may have one of each."""
    root = document.schema
    if not looks_like_a_schema(root) or not asks_nothing(root):
        return document
    definitions = entries(root)
    if not definitions:
        return document
    properties: Json = {
        name: {"$ref": to_fragment(tokens)} for name, tokens in definitions.items()
    }
    wrapped = {**root, "type": "object", "properties": properties}
    changes = [
        change_at(
            wrap.name,
            (keyword,),
            root.get(keyword, ABSENT),
            wrapped[keyword],
            "the root asked nothing; its definitions became optional properties",
        )
        for keyword in ("type", "properties")
        if root.get(keyword) != wrapped[keyword]
    ]
    return document.changed(wrapped, changes)


_ASKING = KNOWN_KEYWORDS - ANNOTATIONS
_ASSERTED_BY_CHOICE = frozenset({"format", "contentEncoding", "contentMediaType"})


@rule(
    "drop-empty",
    summary="A root that restricts nothing and has no definitions is dropped; one "
    "with `properties` or an `additionalProperties` schema, even an empty one, or "
    "with a type other than object is not empty.",
    source="JSONSchemaBench paper, Appendix A (empty schemas)",
    reasons=(Reason.EMPTY,),
)
def empty(document: Document, _context: Context) -> Document | Rejected:
    """Drop roots that restrict nothing."""
    root = document.schema
    members = root if isinstance(root, dict) else {}
    # These keywords declare that anything is allowed.
    says_so = "properties" in members or isinstance(
        members.get("additionalProperties"), dict
    )
    if says_so or not asks_nothing(root):
        return document
    why = "the root restricts nothing, and there are no definitions to use"
    annotating = sorted(_ASSERTED_BY_CHOICE & members.keys())
    if annotating:
        why = f"the root has only {annotating[0]!r}, which validators need not assert"
    elif not looks_like_a_schema(root) and members.keys().isdisjoint(_ASKING):
        why = "the root has no keyword that a schema would have"
    elif members.get("additionalProperties") is False:
        why = "the root accepts no object but the empty one"
    elif "type" in members:
        why = "the root asks for an object, and nothing of its content"
    return Rejected(reason=Reason.EMPTY, detail=why, rule=empty.name)


@rule(
    RULE_NAME,
    summary="Decide the dialect, declared or else by the words in use and, where these "
    "leave several drafts, by what the source declares most often; bring draft-03 to "
    "draft-04, and let `$schema` say it.",
    source="JSON Schema core: draft-04 section 6, 2020-12 section 8.1.1; of 1,386 "
    "published GitHub records without a usable draft 14 had none upstream",
    reasons=(Reason.UNSUPPORTED_DIALECT, Reason.INVALID_SCHEMA),
    lints={MIXED_DRAFTS: "no draft gives effect to every keyword that the schema uses"},
)
def decide_dialect(document: Document, _context: Context) -> Document | Rejected:
    """Decide the dialect (`curation.validation.dialect_decision`)."""
    return with_dialect(document)


@rule(
    "metaschema",
    summary="Drop what the metaschema of its own dialect refuses, formats left out.",
    source="JSONSchemaBench, appendix A.1, which asks 2020-12 of every schema and so "
    "drops 289 GitHub files that are valid under their own draft",
    reasons=(Reason.INVALID_SCHEMA, Reason.VALIDATORS_DISAGREE),
)
def check_metaschema(document: Document, _context: Context) -> Document | Rejected:
    """Reject schemas that the metaschema of their dialect refuses."""
    dialect = read_dialect(document)
    error = complaint(document.schema, dialect)
    if error is None:
        return document
    reason, detail = Reason.INVALID_SCHEMA, f"{dialect.name}: {error}"
    if (
        validators_may_differ(document.schema, dialect)
        and python_complaint(document.schema, dialect) is None
    ):
        reason = Reason.VALIDATORS_DISAGREE
        detail = f"{detail} (jsonschema-rs); jsonschema accepts it"
    return Rejected(reason=reason, detail=detail, pointer=error.pointer)


@rule(
    "identifiers",
    summary="Characters that no URI may hold are percent-encoded in `$id` (draft-04: "
    "`id`); an identifier that still is no URI reference ends the record.",
    source="RFC 3986, appendix A; jsonschema-rs refuses such identifiers",
    reasons=(Reason.BAD_IDENTIFIER,),
)
def identifiers(document: Document, _context: Context) -> Document | Rejected:
    """Make every identifier a URI reference, as validators require."""
    dialect = read_dialect(document)
    keyword = dialect.id_keyword
    edits: dict[Tokens, Put] = {}
    changes: list[Change] = []
    for location in walk(document.schema, dialect):
        before = location.keywords.get(keyword)
        if not isinstance(before, str):
            continue
        tokens = (*location.tokens, keyword)
        after = usable(before)
        if after is None:
            problem = f"{before[:120]!r} is no URI reference"
            return _rejected(Reason.BAD_IDENTIFIER, tokens, problem)
        if after != before:
            edits[tokens] = Put(after)
            note = "escaped as RFC 3986 wants it"
            changes.append(change_at(identifiers.name, tokens, before, after, note))
    if not changes:
        return document
    return document.changed(rewritten(document.schema, edits), changes)


_UNRESERVED = r"[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2}"
_PCHAR = rf"(?:{_UNRESERVED}|[!$&'()*+,;=:@])"
_AUTHORITY = (
    rf"(?:(?:{_UNRESERVED}|[!$&'()*+,;=:])*@)?"
    rf"(?:\[[0-9A-Fa-f:.]+\]|(?:{_UNRESERVED}|[!$&'()*+,;=])*)(?::[0-9]*)?"
)
#: URI-reference of RFC 3986, appendix A.
_URI_REFERENCE = re.compile(
    rf"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?"
    rf"(?://{_AUTHORITY}(?:/{_PCHAR}*)*|(?P<path>(?!//)(?:{_PCHAR}|/)*))"
    rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?"
)


def is_uri_reference(text: str) -> bool:
    """Return whether a text is a URI reference (RFC 3986 section 4.1)."""
    match = _URI_REFERENCE.fullmatch(text)
    if match is None:
        return False
    segment = (match["path"] or "").partition("/")[0]
    return match["scheme"] is not None or ":" not in segment


def usable(identifier: str) -> str | None:
    """Return the identifier with characters escaped as in a URI, or None.

    None if the identifier is not a URI reference even so.
    """
    if is_uri_reference(identifier):
        return identifier
    escaped = legal(identifier).replace("[", "%5B").replace("]", "%5D")
    return escaped if is_uri_reference(escaped) else None


#: A reference that is not a mere fragment, in canonical text.
_NO_FRAGMENT = re.compile(rb'"\$ref":"(?!#)')
#: Keywords whose values are instances.
_INSTANCES = frozenset({"enum", "const", "default", "examples", "example"})
#: Tokens of a reference that the wrap adds: `/properties/NAME/$ref`.
_ADDED = 3


@rule(
    "references",
    summary="Every reference resolves inside the record, under its own dialect: "
    "what stands in other documents of the source or in a metaschema is brought in; "
    "what leads nowhere, out of the source or round in a circle ends the record. "
    "Where a reference looks at its scope (`$dynamicRef`, `$recursiveRef`), documents "
    "come in whole and keep their identifiers. A `$ref` out of the record that no "
    "keyword leads to is dropped.",
    source="JSON Schema core, sections on `$ref` and `$id` of each draft; RFC 3986, "
    "RFC 6901",
    reasons=(
        Reason.UNRESOLVED_REFERENCE,
        Reason.REMOTE_REFERENCE,
        Reason.INVALID_SCHEMA,
        Reason.TOO_LARGE,
    ),
)
def references(document: Document, context: Context) -> Document | Rejected:
    """Let every reference lead somewhere inside the record itself."""
    dialect = read_dialect(document)
    record = to_schema(document.schema, dialect)
    if not record.references and not _may_lead_out(document):
        return document
    closure = find_closure(record, NO_LIBRARY)
    if isinstance(closure, Rejected) and closure.reason is not Reason.REMOTE_REFERENCE:
        return _of_the_author(closure, document)
    if (
        isinstance(closure, Rejected)
        or closure.outside_schemas()
        or any(
            reference.value and not _local(reference).startswith("#")
            for reference in _own_references(closure)
        )
    ):
        read = to_schema(document.schema, dialect, document.base_uri or "")
        closure = find_closure(read, context.library)
        if isinstance(closure, Rejected):
            return closure
        schema, changes = bundle_record(closure, references.name)
        refused = too_many(schema)
        if refused is not None:
            return refused
        wrong = complaint(schema, dialect)
        if wrong is not None:
            detail = f"what is referred to is no valid {dialect.name} schema: {wrong}"
            return Rejected(reason=Reason.INVALID_SCHEMA, detail=detail)
        document = document.changed(schema, changes)
        closure = find_closure(to_schema(schema, dialect), NO_LIBRARY)
        if isinstance(closure, Rejected):
            return closure
    reason = Reason.UNRESOLVED_REFERENCE
    loop = endless(closure.record)
    if loop is not None:
        problem = "the reference leads back to itself without end"
        return _rejected(reason, loop, problem)
    elsewhere = disputed(closure.record)
    if elsewhere is not None:
        problem = "jsonschema does not find what it refers to"
        return _of_the_author(_rejected(reason, elsewhere, problem), document)
    return _shortened(document, closure)


def _of_the_author(lost: Rejected, document: Document) -> Rejected:
    """Say of a reference that `wrap-library` has added that the file has none there.

    What is wrong is then the definition, which the author has written: no schema can
    be made of it.
    """
    wrapped = any(
        change.rule == wrap.name and change.pointer == "/properties"
        for change in document.changes
    )
    tokens = parse_tokens(lost.pointer)
    if not wrapped or len(tokens) != _ADDED or tokens[0] != "properties":
        return lost
    target = unquote(document.schema["properties"][tokens[1]]["$ref"][1:])
    why = complaint(at(document.schema, parse_tokens(target)), read_dialect(document))
    detail = f"{target}: taken for a definition by `{wrap.name}`, but no schema: {why}"
    return replace(lost, reason=Reason.INVALID_SCHEMA, detail=detail, pointer=target)


def _own_references(closure: Closure) -> Iterator[Reference]:
    """Yield the references in the record itself."""
    for reached in closure.own_schemas():
        for resolved in reached.references:
            yield resolved.reference


def _local(reference: Reference) -> str:
    """Return a reference to its own document as the mere fragment that it means.

    RFC 3986, section 4.4: what is equal to the base URI but for its fragment
    refers to the same document.
    """
    uri, fragment = join(reference.base, reference.text)
    is_local = bool(reference.base) and uri == reference.base
    return f"#{fragment}" if is_local else reference.text


def _may_lead_out(document: Document) -> bool:
    text = canonical_of_part(document.schema, document.schema)
    return _NO_FRAGMENT.search(text) is not None


def _shortened(document: Document, closure: Closure) -> Document:
    """Write each reference as short as it can be, without stray characters.

    A `$ref` out of the record is dropped outside of schemas and instances.
    """
    schema = document.schema
    edits: dict[Tokens, Put | Drop] = {}
    changes: list[Change] = []
    for reference in _own_references(closure):
        before, after = reference.text, legal(_local(reference))
        if after != before:
            tokens = (*reference.tokens, reference.keyword)
            edits[tokens] = Put(after)
            note = "it leads to the same place"
            changes.append(change_at(references.name, tokens, before, after, note))
    leads_out = _may_lead_out(document)
    schemas = taking_part(schema, closure.record.dialect) if leads_out else ()
    places = {location.tokens for location in schemas}
    for tokens, members in objects(schema) if leads_out else ():
        text = members.get("$ref")
        if not isinstance(text, str) or text.startswith("#"):
            continue
        holder = next(len(above) for above in upwards(tokens) if above in places)
        if tokens[holder:] and tokens[holder] not in _INSTANCES:
            edits[*tokens, "$ref"] = Drop()
            note = "it leads out of the record, and no keyword leads to it"
            path = (*tokens, "$ref")
            changes.append(change_at(references.name, path, text, ABSENT, note))
    if not edits:
        return document
    return document.changed(rewritten(schema, edits), changes)


_NAMES = "patternProperties"
_SHOWN = 120


@rule(
    "patterns",
    summary="Patterns and the names of `patternProperties` are ECMA-262 with the `u` "
    "flag: mended where the looser grammar gives them one meaning, else the record "
    "ends.",
    source="ECMA-262, section 22.2.1 and annex B.1.2; JSON Schema 2020-12 core, "
    "section 6.4 (`u`)",
    reasons=(Reason.BAD_PATTERN,),
)
def patterns(document: Document, _context: Context) -> Document | Rejected:
    """Let every pattern be ECMA-262 with the `u` flag."""
    schema, dialect = document.schema, read_dialect(document)
    values: dict[Tokens, Put] = {}
    named: dict[Tokens, None] = {}
    changes: list[Change] = []
    for location in taking_part(schema, dialect):
        for path, pattern in _patterns(location.schema):
            verdict = pattern_verdict(pattern)
            tokens = location.tokens + path
            after = verdict.pattern
            if after is None:
                return bad_patterns(schema, dialect)[0]
            if after == pattern:
                continue
            changes.append(
                change_at(patterns.name, tokens, pattern, after, verdict.note)
            )
            if len(path) == 1:
                values[tokens] = Put(after)
            else:
                named[(*location.tokens, _NAMES)] = None
    if not changes:
        return document
    schema = rewritten(schema, values)
    # The members of `patternProperties`, innermost first.
    for tokens in sorted(named, key=len, reverse=True):
        before: UntypedJson = at(schema, tokens)
        renamed: dict[str, Json] = {
            pattern_verdict(name).pattern or name: subschema
            for name, subschema in before.items()
        }
        if len(renamed) != len(before):
            problem = "two patterns are the same once they are mended"
            return _rejected(Reason.BAD_PATTERN, tokens, problem)
        schema = rewritten(schema, {tokens: Put(renamed)})
    closure = find_closure(to_schema(schema, dialect), NO_LIBRARY) if named else None
    if isinstance(closure, Rejected):
        problem = f"a reference names a pattern: {closure.detail}"
        return _rejected(Reason.BAD_PATTERN, (), problem)
    return document.changed(schema, changes)


def bad_patterns(schema: Json, dialect: Dialect) -> list[Rejected]:
    """Return a rejection for each pattern that is not ECMA-262 and has no repair."""
    rejections = []
    for location in taking_part(schema, dialect):
        for path, pattern in _patterns(location.schema):
            verdict = pattern_verdict(pattern)
            if verdict.pattern is None:
                problem = f"{pattern[:_SHOWN]!r} is no ECMA-262 pattern: {verdict.note}"
                tokens = location.tokens + path
                rejections.append(_rejected(Reason.BAD_PATTERN, tokens, problem))
    return rejections


def _patterns(schema: dict[str, Json]) -> Iterator[tuple[Tokens, str]]:
    pattern, names = schema.get("pattern"), schema.get(_NAMES)
    if isinstance(pattern, str):
        yield ("pattern",), pattern
    for name in names if isinstance(names, dict) else ():
        yield (_NAMES, name), name


@rule(
    "unsatisfiable",
    summary="A schema that provably accepts no instance is dropped: jsonschema-rs "
    "reduces it to one that accepts nothing, with formats asserted and without, where "
    "patterns that no text matches refuse every text. So is "
    "a record in which a mechanical repair leaves such a subschema.",
    source="Meaning of the keywords in the validation specification",
    reasons=(Reason.UNSATISFIABLE,),
)
def unsatisfiable(document: Document, _context: Context) -> Document | Rejected:
    """Drop schemas proven to accept nothing, and repairs that lead there."""
    dialect = read_dialect(document)
    proof = refute(document.schema, dialect)
    detail = str(proof)
    if proof is None and document.repaired:
        proof = _caused_by_repairs(document, dialect)
        detail = f"{proof}, because it was repaired ({', '.join(document.repaired)})"
    if proof is None:
        return document
    return Rejected(reason=Reason.UNSATISFIABLE, detail=detail, pointer=proof.pointer)


def _caused_by_repairs(document: Document, dialect: Dialect) -> Proof | None:
    """Return the proof of a schema that accepts nothing because of a repair."""
    schema = document.schema
    schemas = {
        location.tokens: location.keywords
        for location in walk(schema, dialect)
        if location.schema is not False
    }
    repaired = {
        next(
            above for above in upwards(parse_tokens(change.pointer)) if above in schemas
        )
        for change in document.changes
        if change.rule in document.repaired
    }
    # The document as it were if the repaired schemas accepted everything.
    outermost = [path for path in repaired if repaired & {*upwards(path)} == {path}]
    opened: Json = {}
    if () not in repaired:
        opened = rewritten(schema, {tokens: Put({}) for tokens in outermost})
    # The schemas around those, and around the references to them. Deepest first: of
    # two that accept nothing the inner one is the cause.
    referring: defaultdict[str, list[Tokens]] = defaultdict(list)
    for tokens, keywords in schemas.items():
        if "$ref" in keywords:
            referring[str(keywords["$ref"])].append(tokens)
    pending, concerned = list(repaired), set[Tokens]()
    for tokens in pending:
        new = [
            path
            for path in upwards(tokens)
            if path in schemas and path not in concerned
        ]
        concerned.update(new)
        for above in new:
            pending += referring[to_fragment(above)]
    for tokens in sorted(concerned, key=lambda tokens: (-len(tokens), tokens)):
        proof = refute_inside(schema, tokens, dialect)
        if proof and refute_inside(opened, tokens, dialect) is None:
            return proof
    return None


@rule(
    "validators-agree",
    summary="Keep a schema only if jsonschema and jsonschema-rs both read it and "
    "find all its references offline.",
    source="Defects of the published set: 12 records do not build in jsonschema-rs "
    "as 2020-12, 8 not under their own draft",
    reasons=(
        Reason.VALIDATORS_DISAGREE,
        Reason.UNRESOLVED_REFERENCE,
        Reason.INVALID_SCHEMA,
    ),
)
def validators_agree(document: Document, _context: Context) -> Document | Rejected:
    """Reject what jsonschema or jsonschema-rs cannot use."""
    schema = document.schema
    dialect = read_dialect(document)
    python, rust = both_verdicts(schema, dialect, canonical_of_part(schema, schema))
    if python.accepts and rust.accepts:
        return document
    reason = Reason.VALIDATORS_DISAGREE
    if not python.accepts and not rust.accepts:
        lost = python.lost_reference
        reason = Reason.UNRESOLVED_REFERENCE if lost else Reason.INVALID_SCHEMA
    return Rejected(reason=reason, detail=f"{dialect.name}: {python}; {rust}")


@rule(
    "lints",
    summary="Defects that no rule may mend without changing the meaning are flagged.",
    source="The defects of the published set; each code says what it means",
    lints=CODES,
)
def flag_lints(document: Document, _context: Context) -> Document:
    """Flag the defects that stay as they are."""
    return document.flagged(lints(document.schema, read_dialect(document)))
