"""Rules of the set `paper`, which rebuilds the published benchmark.

What is a schema at all they read as the authors do, found by comparison: keywords count
by name alone, wherever they occur. `curation.schema.roots` is the notion of `clean`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache

import jsonschema_rs

from curation.core.json_types import UntypedJson
from curation.core.rule import (
    ABSENT,
    Change,
    Context,
    Document,
    Json,
    Reason,
    Rejected,
    rule,
)
from curation.json.pointer import (
    Drop,
    Put,
    Tokens,
    at,
    change_at,
    pointer,
    rewritten,
    to_fragment,
)
from curation.json.text import plain, write
from curation.json.values import objects, plain_of_document, searchable
from curation.rules.guard import with_schema
from curation.schema.dialects import (
    ANY_DIALECT,
    DRAFT_04,
    DRAFT_2020_12,
    declared,
)
from curation.schema.keywords import BOUNDS
from curation.schema.subschemas import edited_objects, walk, without
from curation.schema.translation import with_numeric_bounds
from curation.system.words import shortened
from curation.validation.metaschemas import (
    Complaint,
    cut,
    python_complaint,
    refuse,
    standard_document,
)
from curation.validation.python_validators import PYTHON_VALIDATORS

#: Keywords that make an object a schema that asks something.
_APPLYING = frozenset(
    {
        *("properties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf", "not"),
        *("enum", "const", "if"),
    }
)
#: Keywords that bound a value.
_BOUNDING = BOUNDS | {"pattern"}
#: A root with none of these is not a schema at all.
_SIGNS = frozenset({"$schema", "definitions", "type", "required", "dependencies"})
_OTHER_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "string"})


def _applies(schema: dict[str, Json]) -> bool:
    """Return whether an object has one of the applying keywords."""
    return not _APPLYING.isdisjoint(schema)


def _bounds(schema: dict[str, Json]) -> bool:
    """Return whether an object bounds a value, or names a type but `object`."""
    types = schema.get("type")
    if isinstance(types, list) or not _BOUNDING.isdisjoint(schema):
        return True
    return isinstance(types, str) and types in _OTHER_TYPES


def constrains(root: Json) -> bool:
    """Return whether a root asks anything of an instance, objects aside."""
    return isinstance(root, dict) and (
        _applies(root)
        or "items" in root
        or isinstance(root.get("additionalProperties"), dict)
        or _bounds(root)
    )


def entries(root: dict[str, Json], above: Tokens = ()) -> Iterator[Tokens]:
    """Yield the paths of the outermost meaningful schemas, in the file's order.

    Only members that are objects are entered, never arrays.
    """
    for name, value in root.items():
        if not isinstance(value, dict):
            continue
        is_map = value.get("type") == "object" and "additionalProperties" in value
        if is_map or _applies(value) or _bounds(value):
            yield (*above, name)
        else:
            yield from entries(value, (*above, name))


#: The formats that the metaschema of 2020-12 uses.
_FORMATS = ("regex", "uri", "uri-reference")
#: Distinct texts remembered for each format.
_REMEMBERED = 65_536
#: A line feed at the end of a text, as JSON writes it.
_LINE_END = b'\\n"'
#: Maximum length of a validator's message; jsonschema-rs repeats whole schemas.
_MAX_MESSAGE = 240


@cache
def _validator_2020_12() -> jsonschema_rs.Validator:
    """Return jsonschema-rs's validator of schemas, with jsonschema's own formats."""
    slow = PYTHON_VALIDATORS["2020-12"]

    def check(name: str) -> Callable[[str], bool]:
        @lru_cache(maxsize=_REMEMBERED)
        def conforms(text: str) -> bool:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    return bool(slow.FORMAT_CHECKER.conforms(text, name))
                except (OverflowError, RecursionError):
                    return False

        return conforms

    return jsonschema_rs.Draft202012Validator(
        dict(slow.META_SCHEMA),
        formats={name: check(name) for name in _FORMATS},
        validate_formats=True,
        retriever=refuse,
    )


def complaint_2020_12(schema: Json) -> Complaint | None:
    """Return why jsonschema's `Draft202012Validator.check_schema` refuses a schema.

    jsonschema-rs walks the same metaschema some fifty times faster; for `format` it
    calls jsonschema's own checkers, each distinct text once. Both gave the same verdict
    on every raw file of the paper's sources. What jsonschema-rs cannot read is left to
    jsonschema, and so is a text that ends in a line feed: the `$` of Python's patterns
    also comes before it.
    """
    value = plain_of_document(schema)
    validator = _validator_2020_12()
    complaint = None
    with suppress(ValueError):
        if validator.is_valid(value):
            return None
        if _LINE_END not in searchable(schema):
            error = next(iter(validator.iter_errors(value)))
            instance_pointer = pointer(tuple(map(str, error.instance_path)))
            complaint = Complaint(pointer=instance_pointer, message=error.message)
    complaint = complaint or python_complaint(value, DRAFT_2020_12, formats=True)
    if complaint is None:
        return None
    return complaint._replace(message=shortened(complaint.message, _MAX_MESSAGE))


#: How a placeholder begins in the template languages of the sources.
PLACEHOLDER = b"${"
#: Bytes shown on either side of it.
_BYTES_SHOWN = 40


@rule(
    "paper-template",
    summary="A document with `${` anywhere in its JSON text is dropped.",
    source="JSONSchemaBench paper, section 3.1 (invalid schemas are filtered out); "
    "45 GitHub and 16 SchemaStore files, none of them published",
    reasons=(Reason.TEMPLATE,),
)
def template(document: Document, _context: Context) -> Document | Rejected:
    """Drop templates."""
    text = searchable(document.schema)
    if PLACEHOLDER not in text:
        return document
    before, _, after = text.partition(PLACEHOLDER)
    excerpt = before[-_BYTES_SHOWN:] + PLACEHOLDER + after[:_BYTES_SHOWN]
    detail = excerpt.decode(errors="ignore")
    return Rejected(reason=Reason.TEMPLATE, detail=f"a placeholder in {detail}")


@rule(
    "paper-check-schema",
    summary="A file that `Draft202012Validator.check_schema` of jsonschema 4.26.0 "
    "refuses is dropped, whatever draft it declares; formats count.",
    source="JSONSchemaBench paper, section 3.1 (invalid schemas are filtered out); "
    "370 GitHub, 24 SchemaStore and 6 Snowplow files, none of them published",
    reasons=(Reason.INVALID_SCHEMA,),
)
def check_schema(document: Document, _context: Context) -> Document | Rejected:
    """Drop files that jsonschema refuses as 2020-12, whatever they declare."""
    refused = complaint_2020_12(document.schema)
    if refused is None:
        return document
    return Rejected(reason=Reason.INVALID_SCHEMA, detail=str(refused))


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _without_anchors(schema: Json) -> Json:
    """Return the schema with references by pointer in place of plain-name `$id`s."""
    anchors = {
        name: to_fragment(location.tokens)
        for location in walk(schema, ANY_DIALECT)
        if isinstance(name := location.keywords.get("$id"), str) and name[:1] == "#"
    }

    def by_pointer(inner: dict[str, Json]) -> Json:
        if inner.get("$id") in anchors:
            inner = without(inner, "$id")
        target = anchors.get(str(inner.get("$ref")))
        return inner if target is None else {**inner, "$ref": target}

    return edited_objects(schema, ANY_DIALECT, by_pointer) if anchors else schema


@rule(
    "paper-promote",
    summary="A root without `$schema` and applying keyword gives way to its first "
    "member with a `$schema` of its own; that one must pass `check_schema` too, with "
    "its boolean exclusive bounds written as numbers and its plain-name `$id`s as "
    "pointers if need be.",
    source="JSONSchemaBench paper, Appendix A (extraneous field removal); 273 GitHub "
    "files, of which one then fails `check_schema`",
    reasons=(Reason.INVALID_SCHEMA,),
)
def promote(document: Document, _context: Context) -> Document | Rejected:
    """Promote the first member with a `$schema`."""
    root = document.schema
    if not isinstance(root, dict) or "$schema" in root or _applies(root):
        return document
    name = next((name for name in root if "$schema" in _object(root[name])), None)
    if name is None:
        return document
    inner = root[name]
    refused = complaint_2020_12(inner)
    note = f"the schema stood under {pointer((name,))}"
    if refused is not None:
        inner = _without_anchors(edited_objects(inner, DRAFT_04, with_numeric_bounds))
        if inner is not root[name]:
            refused = complaint_2020_12(inner)
            note += "; what 2020-12 refuses in it is written as it wants it"
    if refused is not None:
        detail = f"in {pointer((name,))}: {refused}"
        return Rejected(reason=Reason.INVALID_SCHEMA, detail=detail)
    return document.changed(inner, [change_at(promote.name, (), root, inner, note)])


@rule(
    "paper-wrap",
    summary="A root that constrains nothing but holds schemas somewhere inside gets "
    "each of the outermost as a required property that refers to it.",
    source="JSONSchemaBench paper, Appendix A; 166 GitHub records, 2 SchemaStore, 1 "
    "Kubernetes and 1 WashingtonPost record",
)
def wrap(document: Document, _context: Context) -> Document:
    """Wrap a library of definitions: an object that requires one of each."""
    root = document.schema
    if constrains(root) or not isinstance(root, dict) or _SIGNS.isdisjoint(root):
        return document
    properties: dict[str, Json] = {
        ".".join(name for name in tokens if name != "definitions"): {
            "$ref": "#" + pointer(tokens)
        }
        for tokens in entries(root)
    }
    if not properties:
        return document
    members: dict[str, Json] = {
        "properties": properties,
        "required": list(properties),
    }
    changes = [
        change_at(wrap.name, (name,), root.get(name, ABSENT), value)
        for name, value in members.items()
    ]
    return document.changed({**root, **members}, changes)


#: Longest text of a document that is shown whole.
_MAX_VALUE = 120


@rule(
    "paper-empty",
    summary="A root that constrains nothing, and in which nothing was found to wrap, "
    "is dropped.",
    source="JSONSchemaBench paper, section 3.1; 132 GitHub, 23 Kubernetes and 11 "
    "Snowplow files, none of them published",
    reasons=(Reason.EMPTY,),
)
def empty(document: Document, _context: Context) -> Document | Rejected:
    """Drop roots that constrain nothing."""
    if constrains(document.schema):
        return document
    excerpt = cut(write(document.schema), _MAX_VALUE)
    return Rejected(reason=Reason.EMPTY, detail=f"constrains nothing: {excerpt}")


#: WashingtonPost's roots are given the first; upstream they declare draft-04.
_URI_04 = "http://json-schema.org/draft-04/schema"
_URI_07 = "http://json-schema.org/draft-07/schema"
_URI_2020_12 = "https://json-schema.org/draft/2020-12/schema"
_VERSIONLESS = "http://json-schema.org/schema#"
_MISSPELT = {
    "draft-04/schema#4": "draft-04/schema",
    "draft-07/schema#/definitions/": "draft-07/schema",
}
#: A declaration in JSON text without whitespace.
_DECLARATION = b'"$schema":"'


def _mended_uri(uri: str, *, at_root: bool) -> str | None:
    """Return the URI as published; None if the member goes."""
    if "hyper-schema" in uri:
        return uri.replace("hyper-schema", "schema").removesuffix("#")
    for wrong, right in _MISSPELT.items():
        uri = uri.replace(wrong, right)
    if uri == _VERSIONLESS:
        return _URI_07 + "#" if at_root else _URI_07
    return uri if at_root or "json-schema.org" in uri else None


@rule(
    "paper-schema-uri",
    summary="Hyper-schema, misspelt and versionless `$schema` URIs become those of a "
    "draft at any depth; a nested foreign one goes; WashingtonPost roots get draft-04.",
    source="JSONSchemaBench paper, section 3.1 (schemas are standardized); 47 GitHub, "
    "1 Snowplow and 125 WashingtonPost records",
)
def schema_uri(document: Document, _context: Context) -> Document:
    """Mend the `$schema` URIs that name no draft."""
    schema: Json = document.schema
    changes: list[Change] = []
    at_root = isinstance(_object(schema).get("$schema"), str)
    nested = searchable(schema).count(_DECLARATION) > at_root
    for tokens, subschema in objects(schema) if nested else [((), _object(schema))]:
        uri = subschema.get("$schema")
        right = _mended_uri(uri, at_root=not tokens) if isinstance(uri, str) else uri
        if right == uri:
            continue
        path = (*tokens, "$schema")
        edit = Drop() if right is None else Put(right)
        schema = rewritten(schema, {path: edit})
        after = ABSENT if right is None else right
        changes.append(change_at(schema_uri.name, path, uri, after))
    members = _object(schema)
    if document.config == "WashingtonPost" and "$schema" not in members:
        schema = {"$schema": _URI_04, **members}
        changes.append(change_at(schema_uri.name, ("$schema",), ABSENT, _URI_04))
    return document.changed(schema, changes) if changes else document


@rule(
    "paper-array-type",
    summary="A root of type `object` with an object as `items` and no applying "
    "keyword becomes of type `array`; nested ones stay.",
    source="JSONSchemaBench paper, section 3.1; 13 GitHub records",
)
def array_type(document: Document, _context: Context) -> Document:
    """Say that a root with `items` is an array."""
    root = document.schema
    if (
        root.get("type") != "object"
        or not isinstance(root.get("items"), dict)
        or _applies(root)
    ):
        return document
    change = change_at(array_type.name, ("type",), "object", "array")
    return document.changed({**root, "type": "array"}, [change])


_ESCAPED = re.compile(r"\\.", re.DOTALL)
_QUANTIFIER = re.compile(r"\{\d+(?:,\d*)?\}")
_UP_TO = re.compile(r"\{(?=,\d+\})")
#: A pattern without any of these needs no look.
_SUSPECT = re.compile(r"\\0|\{(?!\d)|\{\d*(?![\d,}])|\[[^\]]*\[")
#: No text that lacks both holds a pattern.
_SIGNS_OF_PATTERNS = (b'"pattern":"', b'"patternProperties":{')


def _escaped(pattern: str) -> str:
    if not _SUSPECT.search(pattern):
        return pattern
    bare = _ESCAPED.sub("", pattern)
    balanced = bare.count("[") == bare.count("]")
    parts: list[str] = []
    in_class, position = False, 0
    while position < len(pattern):
        piece, length = pattern[position], 1
        if piece == "\\":
            part = pattern[position : position + 2]
            piece, length = ("\0" if part == "\\0" else part), len(part)
        elif in_class:
            in_class = piece != "]"
            piece = "\\[" if piece == "[" and not balanced else piece
        elif piece == "[":
            in_class = True
        elif piece == "{" and _UP_TO.match(pattern, position):
            piece = "{0"
        elif piece == "{" and not _QUANTIFIER.match(pattern, position):
            piece = "\\{"
        parts.append(piece)
        position += length
    return "".join(parts)


@rule(
    "paper-pattern-text",
    summary="In patterns, a `[` inside an unbalanced class and a `{` that starts no "
    "quantifier are escaped, `{,n}` becomes `{0,n}` and `\\0` the character U+0000. "
    "What jsonschema-rs can build only then is declared draft-07.",
    source="JSONSchemaBench paper, section 3.1 (schemas are standardized); 11 GitHub "
    "records",
)
def pattern_text(document: Document, _context: Context) -> Document:
    """Escape the characters in regular expressions that the authors escaped."""
    schema: UntypedJson = document.schema
    changes: list[Change] = []
    text = searchable(schema)
    if not any(sign in text for sign in _SIGNS_OF_PATTERNS):
        return document
    name = pattern_text.name
    # Innermost first: a new name is never above an edit.
    places = [*reversed([*objects(schema)])]
    patterns = {
        (*tokens, "pattern"): Put(after)
        for tokens, subschema in places
        if isinstance(before := subschema.get("pattern"), str)
        and (after := _escaped(before)) != before
    }
    schema = rewritten(schema, patterns)
    for tokens, subschema in places:
        for before in reversed(_object(subschema.get("patternProperties"))):
            after = _escaped(before)
            path = (*tokens, "patternProperties", before)
            if after != before:
                value = at(schema, path)
                schema = rewritten(schema, {path: Put(value, after)})
                new = (*path[:-1], after)
                changes.append(change_at(name, path, value, ABSENT))
                changes.append(change_at(name, new, ABSENT, value))
        path = (*tokens, "pattern")
        if edit := patterns.get(path):
            changes.append(change_at(name, path, subschema["pattern"], edit.value))
    if not changes:
        return document
    mended = document.changed(schema, changes)
    if (
        "$schema" not in schema
        or failure(document.schema) is None
        or failure(schema) is not None
    ):
        return mended
    # The authors' validator refused it first, and they tried another draft.
    return _declaring(mended, _URI_07 + "#", pattern_text.name)


_KIND = jsonschema_rs.ValidationErrorKind


def failure(schema: dict[str, Json]) -> jsonschema_rs.ValidationError | None:
    """Return why jsonschema-rs cannot build a schema as it is declared, or None."""
    readable: UntypedJson = plain(schema)
    try:
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


@rule(
    "paper-rebuild",
    summary="What jsonschema-rs 0.60.3 cannot build under its declared draft is "
    "declared 2020-12 (with an empty `required`) or draft-07 if it builds then, unless "
    "a list `required` that leaves its `properties` is all that it needs; "
    "GitHub documents that still fail are dropped, unless over a pattern.",
    source="JSONSchemaBench paper, section 3.1 (schemas conform to the version they "
    "declare); 39 records declared 2020-12, 9 draft-07; 16 files would be dropped, "
    "of which the authors mended 4",
    reasons=(Reason.UNRESOLVED_REFERENCE, Reason.INVALID_SCHEMA),
)
def rebuild(document: Document, _context: Context) -> Document | Rejected:
    """Declare another draft for schemas that cannot be built; drop the others."""
    schema = document.schema
    error = failure(schema)
    if error is None:
        return document
    moved = _with_moved_required(schema)
    if moved != schema and failure(moved) is None:
        return with_schema(
            document, rebuild.name, moved, note="a keyword of the object"
        )
    lost = isinstance(error.kind, _KIND.Referencing)
    if lost and "retriev" in error.message:
        return document
    promoted = any(change.rule == promote.name for change in document.changes)
    uris = [_URI_07 + "#"]
    if not promoted and any(
        members.get("required") == [] for _, members in objects(schema)
    ):
        uris = [_URI_2020_12]
    elif not document.config.startswith("Github"):
        # Draft-04 reads no `$id`, which else hides what pointers lead to.
        uris.append(_URI_04 + "#")
    for uri in uris:
        if failure({**schema, "$schema": uri}) is None:
            return _declaring(document, uri, rebuild.name)
    # Only GitHub's were dropped: of SchemaStore one such record was published.
    if _about_regex(error) or not document.config.startswith("Github"):
        return document
    return Rejected(
        reason=Reason.UNRESOLVED_REFERENCE if lost else Reason.INVALID_SCHEMA,
        detail=shortened(error.message, _MAX_MESSAGE),
    )


def _with_moved_required(value: UntypedJson) -> UntypedJson:
    """Return a value in which each list `required` has left its `properties`.

    It belongs to the object, as does a boolean `additionalProperties` next to it.
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


def _declaring(document: Document, uri: str, rule_name: str) -> Document:
    """Return a document with another `$schema`."""
    root = document.schema
    is_declared = "$schema" in root
    change = change_at(rule_name, ("$schema",), root.get("$schema", ABSENT), uri)
    root = {**root, "$schema": uri} if is_declared else {"$schema": uri, **root}
    return document.changed(root, [change])


#: No text that lacks this holds a `$ref` text that is not a bare fragment.
_NO_FRAGMENT = re.compile(rb'"\$ref":"(?!#)')


@rule(
    "paper-remote-reference",
    summary="A `$ref` that leads out of the document drops it, unless it leads to a "
    "metaschema, which every validator has; nothing is bundled.",
    source="JSONSchemaBench paper, section 3.1; 39 SchemaStore files, none of them "
    "published",
    reasons=(Reason.REMOTE_REFERENCE,),
)
def remote_reference(document: Document, _context: Context) -> Document | Rejected:
    """Drop documents that refer to another."""
    if not _NO_FRAGMENT.search(searchable(document.schema)):
        return document
    identifiers = [document.schema.get(keyword) for keyword in ("id", "$id")]
    inside = {uri.removesuffix("#") for uri in identifiers if isinstance(uri, str)}
    for tokens, subschema in objects(document.schema):
        ref = subschema.get("$ref")
        if not isinstance(ref, str):
            continue
        uri = ref.partition("#")[0]
        is_known = uri in inside or standard_document(uri) is not None
        if not (is_known if uri else ref.startswith("#")):
            location = pointer((*tokens, "$ref"))
            return Rejected(
                reason=Reason.REMOTE_REFERENCE, detail=f"{location} refers to {ref}"
            )
    return document


#: Drafts up to this one are concerned (`curation.schema.dialects.Dialect.order`).
_NEWEST = 7
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^#]*#(?P<fragment>.+)", re.DOTALL)
#: No text that lacks both holds an identifier.
_IDENTIFIERS = (b'"id":"', b'"$id":"')


@rule(
    "paper-bad-identifier",
    summary="Up to draft-07, an absolute `id` or `$id` whose fragment holds a slash, "
    "or that has any fragment at the root, drops the document.",
    source="JSONSchemaBench paper, section 3.1; 9 GitHub files, none of them published",
    reasons=(Reason.BAD_IDENTIFIER,),
)
def bad_identifier(document: Document, _context: Context) -> Document | Rejected:
    """Drop identifiers whose fragment no validator can use."""
    dialect = declared(document.schema.get("$schema"))
    if dialect is None or dialect.order > _NEWEST:
        return document
    text = searchable(document.schema)
    if not any(sign in text for sign in _IDENTIFIERS):
        return document
    for tokens, subschema in objects(document.schema):
        for keyword in ("id", "$id"):
            uri = subschema.get(keyword)
            match = _ABSOLUTE.match(uri) if isinstance(uri, str) else None
            if match and (not tokens or "/" in match["fragment"]):
                location = pointer((*tokens, keyword))
                return Rejected(
                    reason=Reason.BAD_IDENTIFIER, detail=f"{location} is {uri}"
                )
    return document
