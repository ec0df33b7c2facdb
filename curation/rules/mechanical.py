"""Repairs of slips that always have the same fix (`curation.rules.guard`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import TypeGuard, cast

import msgspec

from curation.core.rule import Context, Document, Json, Rejected, RepairKind, rule
from curation.json.pointer import Put, Tokens, at, parse_tokens, rewritten
from curation.json.text import digest, parse
from curation.rules.guard import Refused, mechanical, with_schema
from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, NUMBERS, Shape
from curation.schema.misspellings import ANY_TYPE, type_meant
from curation.schema.subschemas import without
from curation.system.user_files import raw_folder


class Patch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The edits of one record: members that get another name."""

    unique_id: str
    #: sha256 of the canonical form of the document as read; another is not patched.
    sha256: str
    #: Why this was meant, for the ledger.
    reason: str
    #: JSON pointer of a member to its name.
    rename: dict[str, str]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    patch: tuple[Patch, ...]


@cache
def patches() -> Mapping[str, Patch]:
    """Return the patches by the id of their record."""
    text = (raw_folder() / "patches.toml").read_text(encoding="utf-8")
    file = msgspec.convert(tomllib.loads(text), _File)
    return {patch.unique_id: patch for patch in file.patch}


@rule(
    "patches",
    summary="Slips of single records, each edit checked by hand, with its reason.",
    source="`raw/patches.toml`: the record, the sha256 of its file, edits and reason",
    repair=RepairKind.MECHANICAL,
)
def apply_patches(document: Document, _context: Context) -> Document:
    """Hand-checked patches of single records, listed in `raw/patches.toml`."""
    patch = patches().get(document.unique_id)
    if patch is None or digest(document.schema) != patch.sha256:
        return document
    places = {parse_tokens(path): name for path, name in patch.rename.items()}
    edits = {
        path: Put(at(document.schema, path), name) for path, name in places.items()
    }
    patched = rewritten(document.schema, edits)
    return with_schema(document, apply_patches.name, patched, note=patch.reason)


_BOOLEANS = frozenset(
    {
        "required",
        "uniqueItems",
        "additionalProperties",
        "additionalItems",
        "exclusiveMinimum",
        "exclusiveMaximum",
    }
)
_NUMBER = re.compile(r"\s*(-?[0-9]+(?:\.[0-9]+)?)\s*", re.ASCII)
_WORDS: dict[str, Json] = {"true": True, "false": False}


@mechanical(
    "quoted-values",
    summary='`"10"` as a bound is the number, `"true"` and `"false"` where a boolean '
    "may stand are the booleans, in a schema that its draft refuses.",
    source="Validation specification of each draft: bounds are numbers; ten GitHub "
    "files, mended so in the published benchmark",
    note="a text where its value was meant",
)
def quoted_values(schema: dict[str, Json], _refused: Refused) -> dict[str, Json]:
    """Numbers and booleans that are in quotation marks."""
    for keyword, value in schema.items():
        if not isinstance(value, str):
            continue
        if keyword in _BOOLEANS and value.strip().lower() in _WORDS:
            schema = {**schema, keyword: _WORDS[value.strip().lower()]}
        elif keyword in NUMBERS and (match := _NUMBER.fullmatch(value)):
            number = parse(match[1].encode())
            if not isinstance(number, Rejected):
                schema = {**schema, keyword: number}
    return schema


_COUNTS = frozenset({"minProperties", "maxProperties"})
_TEXTS = frozenset({"title", "description"})


@mechanical(
    "misplaced-keywords",
    summary="A list `required`, a count, a title or description, a local `$ref`, the "
    "object's own type once more and, in draft-04, a boolean `additionalProperties` "
    "that stand among the properties belong to the object, in a schema that its draft "
    "refuses. Names that are required belong to the one object that has them all.",
    source="Draft-04 validation, section 5.4.4: members of `properties` are schemas; "
    "about thirty GitHub files, mended so in the published benchmark",
    note="a keyword of the object, among its properties",
)
def misplaced_keywords(schema: dict[str, Json], refused: Refused) -> dict[str, Json]:
    """Move keywords of an object out of its properties.

    A whole schema in the place of the properties stays: its own are not known.
    """
    properties = schema.get("properties")
    if not isinstance(properties, dict) or (
        isinstance(properties.get("type"), str) and "properties" in properties
    ):
        return schema
    moved = {
        name: value
        for name, value in properties.items()
        if ("properties", name) in refused and _belongs(name, value, schema)
    }
    if not moved:
        return schema
    remaining = {name: value for name, value in properties.items() if name not in moved}
    result: dict[str, Json] = {**schema, "properties": remaining}
    for name, value in moved.items():
        if name == "$ref":
            result["allOf"] = [{"$ref": value}]
        elif _are_names(value):
            with_names = _with_required(result, value)
            if with_names is None:
                return schema
            result = with_names
        else:
            result[name] = value
    return result


def _belongs(name: str, value: Json, schema: dict[str, Json]) -> bool:
    """Return whether a member of `properties` can be a keyword of the object."""
    if name == "required":
        return _are_names(value) and _are_names(schema.get(name, []))
    if name == "$ref":
        return isinstance(value, str) and value[:1] == "#" and "allOf" not in schema
    if name == "type":
        return value == schema.get(name, {})
    if name in schema:
        return False
    if name == "additionalProperties":
        return isinstance(value, bool)
    if name in _COUNTS:
        return isinstance(value, int) and not isinstance(value, bool)
    return name in _TEXTS and isinstance(value, str) and type_meant(value) is None


def _with_required(
    schema: dict[str, Json], names: list[Json]
) -> dict[str, Json] | None:
    """Return the schema with names required of the one object that has them all."""
    properties = schema["properties"]
    if not isinstance(properties, dict):
        return None
    if properties.keys() >= set(map(str, names)):
        required = schema.get("required", [])
        before: list[Json] = required if isinstance(required, list) else []
        new = [name for name in names if name not in before]
        return {**schema, "required": [*before, *new]}
    holders = {
        name: {**member, "required": names}
        for name, member in properties.items()
        if isinstance(member, dict)
        and isinstance(inner := member.get("properties"), dict)
        and "required" not in member
        and inner.keys() >= set(map(str, names))
    }
    if len(holders) != 1:
        return None
    return {**schema, "properties": {**properties, **holders}}


def _are_names(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


@mechanical(
    "schema-as-type",
    summary="A schema that is the value of `type`, or one of its list, is applied "
    "itself, and so is what a path `#/...` there leads to, in a schema that its draft "
    "refuses.",
    source="Draft-04 validation, section 5.5.2: `type` holds names; draft-03 knew "
    "schemas there. Twenty GitHub files, mended so in the published benchmark",
    note="a schema where a type's name should stand",
)
def schema_as_type(schema: dict[str, Json], _refused: Refused) -> dict[str, Json]:
    """A schema, or a reference to one, in the place of a type name."""
    value = schema.get("type")
    if isinstance(value, list):
        if any(isinstance(item, dict) for item in value) and "anyOf" not in schema:
            branches: list[Json] = [
                item if isinstance(item, dict) else {"type": item} for item in value
            ]
            return {**without(schema, "type"), "anyOf": branches}
        return schema
    inner = value
    if isinstance(value, str) and value.startswith("#/") and not type_meant(value):
        inner = {"$ref": value}
    if not isinstance(inner, dict):
        return schema
    remaining = without(schema, "type")
    asserting = remaining.keys() - ANNOTATIONS - CONTAINERS
    if inner.keys().isdisjoint(remaining) and not (asserting and "$ref" in inner):
        return {**remaining, **inner}
    return schema if "allOf" in remaining else {**remaining, "allOf": [inner]}


#: A path from the root, with its first slash or, into definitions, without it.
_PATH = re.compile(r"#(?:/|(?=(?:definitions|\$defs)/))(.*)", re.DOTALL)
#: Draft-03 reads names in these itself.
_NAMES = frozenset({"type", "disallow", "extends", "dependencies"})


@mechanical(
    "type-as-schema",
    summary="A text where a schema should stand is the schema of the type that it "
    "names, or of what its path `#/...` or `#definitions/...` leads to, in a schema "
    "that its draft refuses.",
    source="Draft-04 core, section 3.2: a schema is an object; seven GitHub files, "
    "mended so in the published benchmark",
    note="a type's name where a schema should stand",
)
def type_as_schema(schema: dict[str, Json], refused: Refused) -> dict[str, Json]:
    """A type name, or a path, in the place of a schema."""
    edits: dict[Tokens, Put] = {}
    for path, value in refused.items():
        if not isinstance(value, str) or not _holds_schema(schema, path):
            continue
        replacement = type_meant(value)
        match = _PATH.fullmatch(value)
        # These may be keywords in a wrong place.
        if path[-1] == "$ref" or (path[-1] == "type" and replacement == "object"):
            continue
        if replacement is not None:
            edits[path] = Put({"type": value})
        elif match:
            edits[path] = Put({"$ref": f"#/{match[1]}"})
    return cast("dict[str, Json]", rewritten(schema, edits))


def _holds_schema(schema: dict[str, Json], path: Tokens) -> bool:
    """Return whether a location directly inside a schema is one of a schema."""
    if not path or path[0] in _NAMES:
        return False
    keyword, *inside = path
    shape = ANY_DIALECT.applicators.get(keyword)
    if not inside:
        return shape in (Shape.SCHEMA, Shape.EITHER)
    is_list = isinstance(schema.get(keyword), list)
    shapes = (Shape.SCHEMAS, Shape.EITHER) if is_list else (Shape.MAP,)
    return len(inside) == 1 and shape in shapes


@mechanical(
    "misspelt-types",
    summary="Types of other languages, slips and `a|b` get the names that JSON Schema "
    "has for them; `any` goes, and so does `enum` beside an `enum`; in a schema that "
    "its draft refuses.",
    source="Draft-04 validation, section 5.5.2: seven names; some eighty GitHub files, "
    "most of them mended so in the published benchmark",
    note="no draft knows a type of this name",
)
def misspelt_types(schema: dict[str, Json], _refused: Refused) -> dict[str, Json]:
    """Types with another name."""
    if "type" not in schema:
        return schema
    value = schema["type"]
    if value == "enum" and isinstance(schema.get("enum"), list):
        return without(schema, "type")
    if isinstance(value, str) and "|" in value:
        value = [name.strip() for name in value.split("|")]
    entries = value if isinstance(value, list) else [value]
    names = ["null" if name is None else name for name in entries]
    meanings = [type_meant(name) if isinstance(name, str) else None for name in names]
    if None in meanings:
        return schema
    if ANY_TYPE in meanings:
        return without(schema, "type")
    types: list[Json] = list(dict.fromkeys(meanings))
    new: Json = types if isinstance(value, list) else types[0]
    return schema if new == schema["type"] else {**schema, "type": new}


@mechanical(
    "boolean-required",
    summary="A property that says `required: true` is listed by its object; "
    "any other boolean `required` goes; in a schema that its draft refuses.",
    source="Draft-04 validation, section 5.4.3, and draft-03, section 5.7; about "
    "twenty GitHub files, mended so in the published benchmark",
    note="since draft-04 an object lists the names of what it requires",
)
def boolean_required(schema: dict[str, Json], refused: Refused) -> dict[str, Json]:
    """`required: true` of draft-03 in a schema of a later draft."""
    if isinstance(schema.get("required"), bool):
        schema = without(schema, "required")
    members, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(members, dict) or not isinstance(required, list):
        return schema
    names = [
        name
        for name in members
        if refused.get(("properties", name, "required")) is True
        and name not in required
    ]
    return {**schema, "required": [*required, *names]} if names else schema
