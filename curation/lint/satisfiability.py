"""Proofs by jsonschema-rs that a schema accepts nothing, and the cause if it is plain.

A pattern that no text matches is proven by our own automata, and given to jsonschema-rs
as the refusal of every text. A schema without a proof may accept nothing all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import jsonschema_rs

from curation.json.pointer import (
    Tokens,
    at,
    pointer,
    to_fragment,
    tokens_of_fragment,
)
from curation.json.text import plain
from curation.json.values import searchable
from curation.lint.contradictions import (
    TABLES,
    contradictions,
    crossed,
    list_types,
    named_types,
)
from curation.references.reachable import directly_applied, leaves_the_subschemas
from curation.references.schema import Schema, to_schema
from curation.references.verdicts import rust_validator
from curation.schema.keywords import TYPE_OF_KEYWORD, KeywordKind, names_of_kind
from curation.schema.subschemas import edited, subschemas, without
from curation.validation.metaschemas import RUST_DRAFTS, is_valid

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.schema.dialects import Dialect
    from curation.schema.subschemas import SchemaLocation


@cache
def _prover() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - takes time

    return f"proven by jsonschema-rs {version('jsonschema-rs')}"


#: Without one of these keywords a schema accepts something.
_RESTRICTING: Final = frozenset(
    {
        *("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not"),
        *("if", "enum", "const", "required", "contains", "minItems", "minLength"),
        *("minimum", "exclusiveMinimum", "minProperties"),
    }
)
_NOTHING: Final = "nothing is accepted"
#: Branches in a schema, and combinations of branches at one place of it: with more,
#: jsonschema-rs may need gigabytes or minutes, so that it is not asked.
_MAX_BRANCHES, _MAX_COMBINATIONS = 100, 256
#: Keywords that may refuse something.
_RESTRICTIONS: Final = names_of_kind(
    KeywordKind.ASSERTION, KeywordKind.APPLICATOR, KeywordKind.REFERENCE
)
#: Keywords of an object that is valid with the required members alone.
_OF_OBJECTS: Final = frozenset(
    {"type", "properties", "required", "additionalProperties"}
)
#: Keywords of an array that is valid with one valid item.
_OF_ARRAYS: Final = frozenset({"type", "items", "minItems", "uniqueItems"})
#: Keywords of a schema that accepts something unless its bounds cross.
_BOUNDS: Final = ("minLength maxLength", "minimum", "minItems", "minProperties")
#: Levels of an instance examined without asking jsonschema-rs.
_MAX_DEPTH: Final = 8


class Satisfiability(StrEnum):
    """Whether a schema accepts any instance."""

    SATISFIABLE = "satisfiable"
    """A witness exists."""
    UNSATISFIABLE = "unsatisfiable"
    """There is a proof that nothing is accepted."""
    UNKNOWN = "unknown"
    """Neither exists; the reason is given."""


class Proof(NamedTuple):
    """Why a schema accepts nothing, and where."""

    #: JSON pointer of the keyword or schema that excludes all values.
    pointer: str
    #: The reason as a clause: `the schema is false`.
    why: str
    #: The kind of contradiction, or the program that proved it.
    name: str

    def __str__(self) -> str:
        """Return the proof as one line."""
        return f"{self.pointer or '(root)'}: {self.why} ({self.name})"


def refute(schema: Json, dialect: Dialect) -> Proof | None:
    """Return a proof that a schema accepts no instance, or None.

    Example:
        >>> str(refute({"type": "string", "enum": [1]}, BY_NAME["2020-12"]))
        '/enum: no value of `enum` or `const` has the type that stands beside it (...)'
    """
    without, emptied = _without_empty_patterns(schema, dialect)
    if emptied:
        proof = refute(without, dialect)
        why = "no text matches it"
        return proof and Proof(pointer(emptied[0]), why, "empty-pattern")
    if _surely_accepts(schema, schema, dialect) or not _is_small(schema, dialect):
        return None
    # A proof takes up to a second where branches meet; many a schema with some accepts
    # the empty object.
    validator = rust_validator(schema, dialect)
    if not isinstance(validator, str) and validator.is_valid({}):
        return None
    if not _is_refuted(schema, dialect):
        return None
    return _named(to_schema(schema, dialect)) or Proof("", _NOTHING, _prover())


def _without_empty_patterns(
    schema: Json, dialect: Dialect
) -> tuple[Json, list[Tokens]]:
    """Return a schema in which patterns that no text matches refuse every text.

    With them the places of these patterns.
    """
    emptied: list[Tokens] = []
    if b'"pattern"' not in searchable(schema):
        return schema, emptied
    from curation.regex.automaton import matches_nothing  # noqa: PLC0415 - takes time

    def refusing(tokens: Tokens, inner: Json) -> Json:
        if not isinstance(inner, dict):
            return inner
        pattern = inner.get("pattern")
        if not (isinstance(pattern, str) and matches_nothing(pattern)):
            return inner
        emptied.append((*tokens, "pattern"))
        parts = inner.get("allOf")
        refusal: Json = {"not": {"type": "string"}}
        merged = [*parts, refusal] if isinstance(parts, list) else [refusal]
        return {**without(inner, "pattern"), "allOf": merged}

    return edited(schema, dialect, refusing), emptied


#: Identifier of a document while one of its subschemas is judged by itself.
_DOCUMENT: Final = "urn:csbdata:document"


def refute_inside(document: Json, tokens: Tokens, dialect: Dialect) -> Proof | None:
    """Return a proof that a subschema of a document accepts no instance, or None.

    Its references lead where they led. A missing part is not proven.
    """
    try:
        schema = at(document, tokens)
    except LookupError:
        return None
    if (
        not isinstance(document, dict)
        or _surely_accepts(schema, document, dialect)
        or not _is_small(schema, dialect)
    ):
        return None
    alone: Json = {
        "$schema": dialect.uri,
        "$ref": _DOCUMENT + to_fragment(tokens),
        dialect.definitions_keyword: {
            "document": {**document, dialect.id_keyword: _DOCUMENT}
        },
    }
    if not _is_refuted(alone, dialect):
        return None
    return Proof(pointer(tokens), _NOTHING, _prover())


def _is_refuted(schema: Json, dialect: Dialect) -> bool:
    value: UntypedJson = plain(schema)
    no = jsonschema_rs.canonical.Satisfiability.NO
    try:
        # A validator may assert formats or not: neither way may anything be accepted.
        return all(
            jsonschema_rs.canonicalize(
                value,
                draft=RUST_DRAFTS[dialect.name],
                validate_formats=formats,
                offline=True,
            ).satisfiability()
            == no
            for formats in (False, True)
        )
    except (ValueError, jsonschema_rs.ReferencingError):
        return False


def _surely_accepts(schema: Json, root: Json, dialect: Dialect) -> bool:
    """Return whether a schema plainly accepts something; most schemas do."""
    answers: dict[tuple[str, int], bool] = {}

    def accepts(schema: UntypedJson, depth: int = 0) -> bool:
        if not isinstance(schema, dict) or depth > _MAX_DEPTH:
            return schema is True
        if _RESTRICTING.isdisjoint(schema):
            return True
        keywords, depth = _RESTRICTIONS & schema.keys(), depth + 1
        types = named_types(schema) or frozenset()
        if "$ref" in keywords and (dialect.ref_hides_siblings or len(keywords) == 1):
            key = str(schema["$ref"]), depth
            if key not in answers:
                target = _local_target(schema["$ref"], root, dialect)
                answers[key] = accepts(target, depth)
            return answers[key]
        if "anyOf" in keywords:
            # A branch that only requires names says what the schema itself could say.
            beside = without(schema, "anyOf")
            return any(
                accepts({**beside, **branch}, depth)
                for branch in schema["anyOf"]
                if isinstance(branch, dict)
                and (keywords == {"anyOf"} or branch.keys() == {"required"} - {*beside})
            )
        if keywords <= {"type", "enum"} or keywords <= {"type", "const"}:
            values, every = (
                schema.get("enum", [schema.get("const")]),
                "type" not in schema,
            )
            return any(every or types & list_types(value, dialect) for value in values)
        if "required" in keywords and keywords <= _OF_OBJECTS:
            members = schema.get("properties", {})
            return all(
                accepts(members[name], depth)
                if name in members
                else schema.get("additionalProperties", True) is True
                for name in schema["required"]
            )
        if keywords <= _OF_ARRAYS and schema.get("minItems", 0) <= 1:
            return accepts(schema.get("items", True), depth)
        bounded = any(keywords <= {"type", *bounds.split()} for bounds in _BOUNDS)
        return bounded and not any(crossed(schema))

    return accepts(schema)


def _local_target(reference: Json, root: Json, dialect: Dialect) -> UntypedJson:
    if not isinstance(reference, str) or not f"{reference}/".startswith("#/"):
        return None
    try:
        target = at(root, tokens_of_fragment(reference))
    except LookupError:
        return None
    # Where no keyword leads the metaschema has not looked.
    unread = leaves_the_subschemas(reference, dialect)
    return None if unread and not is_valid(target, dialect) else target


def _is_small(schema: Json, dialect: Dialect) -> bool:
    """Return whether jsonschema-rs can be asked without a risk to the process."""
    branches = 0
    try:
        for inner in subschemas(schema, dialect):
            branches += sum(len(values) for _, values in _branch_lists(inner))
            if branches > _MAX_BRANCHES or _combinations(inner) > _MAX_COMBINATIONS:
                return False
    except RecursionError:
        return False
    return True


def _branch_lists(schema: Json) -> Iterator[tuple[str, list[Json]]]:
    if not isinstance(schema, dict):
        return
    for keyword in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            yield keyword, branches


def _combinations(schema: Json) -> int:
    return prod(
        prod(map(_combinations, branches)) if keyword == "allOf" else len(branches)
        for keyword, branches in _branch_lists(schema)
    )


def _named(document: Schema) -> Proof | None:
    """Return the first contradiction within one schema object, if there is any.

    Only schemas that every instance has to satisfy are looked at.

    Args:
        document: A schema that accepts nothing.
    """
    visited: set[Tokens] = set()
    pending: list[tuple[SchemaLocation, frozenset[Tokens]]] = [
        (document.root, frozenset())
    ]
    for location, around in pending:
        parts = _applied(location, document)
        if not around.isdisjoint(parts):
            why = "every instance would be endless"
            return Proof(location.pointer, why, "endless-recursion")
        if location.tokens in visited:
            continue
        visited.add(location.tokens)
        for part in parts.values():
            if part.schema is False:
                return Proof(part.pointer, "the schema is `false`", "false-schema")
            named = named_types(part.keywords) or ()
            types = {"number" if name == "integer" else name for name in named}
            about = {None, *types}
            for code, tokens in contradictions(part.keywords, document.dialect):
                if len(types) == 1 and TYPE_OF_KEYWORD.get(tokens[0]) in about:
                    where = part.pointer + pointer(tokens)
                    return Proof(where, TABLES["lints"][code], code)
        schemas: list[UntypedJson] = [part.keywords for part in parts.values()]
        if any(schema.get("type") in ("object", ["object"]) for schema in schemas):
            names = {name for schema in schemas for name in schema.get("required", ())}
            pending += [
                (member, around | parts.keys())
                for part in parts.values()
                for keyword, member in directly_applied(part, document)
                if keyword == "properties" and member.tokens[-1] in names
            ]
    return None


def _applied(
    location: SchemaLocation, document: Schema
) -> dict[Tokens, SchemaLocation]:
    """Return the schemas that apply with one, `$ref` and `allOf` followed."""
    parts: dict[Tokens, SchemaLocation] = {}
    stack = [location]
    while stack:
        part = stack.pop()
        if part.tokens in parts:
            continue
        if "$ref" not in part.keywords or not document.dialect.ref_hides_siblings:
            parts[part.tokens] = part
        stack += [
            inner
            for keyword, inner in directly_applied(part, document)
            if keyword in ("", "allOf")
        ]
    return parts
