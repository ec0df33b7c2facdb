"""F25 and F28: recursion with and without an end, and `format` as nobody meant it."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

import pytest

import csbdata
from curation.core.documents import Reason
from tests.hostile import schemas
from tests.hostile.judging import judged, reason_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson

_ITSELF = {"$ref": "#"}


def _holder(item: UntypedJson, **more: UntypedJson) -> dict[str, UntypedJson]:
    return {"type": "object", "properties": {"next": item}, **more}


#: Every instance of these would be endless, or nothing meets them for another reason.
_NONE: Mapping[str, UntypedJson] = {
    "endless": _holder(_ITSELF, required=["next"]),
    "endless-below": {
        "type": "array",
        "items": {"$ref": "#/$defs/a"},
        "minItems": 1,
        "$defs": {
            "a": {"type": "array", "items": {"$ref": "#/$defs/a"}, "minItems": 1}
        },
    },
    "enum-of-another-type": {"type": "string", "enum": [1]},
    "bounds-crossed": {"type": "object", "minProperties": 3, "maxProperties": 2},
    "impossible-member": _holder(
        {"type": "string", "minLength": 3, "maxLength": 2}, required=["next"]
    ),
}
#: Recursion that ends: somewhere it may be left off, be null, or be empty.
_SOME: Mapping[str, UntypedJson] = {
    "optional": _holder(_ITSELF),
    "or-null": _holder({"anyOf": [_ITSELF, {"type": "null"}]}, required=["next"]),
    "empty-array": _holder({"type": "array", "items": _ITSELF}, required=["next"]),
    "tree": {
        "type": "object",
        "required": ["left", "right"],
        "properties": {
            "left": {"oneOf": [{"type": "integer"}, _ITSELF]},
            "right": {"oneOf": [{"type": "integer"}, _ITSELF]},
        },
    },
}


def _property(format_: UntypedJson, type_: str = "string") -> dict[str, UntypedJson]:
    return {
        "type": "object",
        "properties": {"a": {"type": type_, "format": format_}},
        "required": ["a"],
    }


#: Names that no vocabulary of ours has, or has otherwise.
_UNKNOWN = ("", "regex", "int32", "x" * 10_000, "\x1b[31m", "DATE", " date")
#: What is no name at all.
_NO_NAMES: tuple[UntypedJson, ...] = (5, None, [], {}, True, ["date"])
_DECLARED = "https://json-schema.org/draft/2020-12/schema"
_OTHER_TYPES = ("integer", "boolean", "null", "object", "array")
_FORMATS: Mapping[str, UntypedJson] = {
    **{f"unknown {number}": _property(name) for number, name in enumerate(_UNKNOWN)},
    **{f"no name {number}": _property(name) for number, name in enumerate(_NO_NAMES)},
    **{
        f"no name {number}, declared": {"$schema": _DECLARED, **_property(name)}
        for number, name in enumerate(_NO_NAMES)
    },
    **{f"of {name}": _property("date-time", name) for name in _OTHER_TYPES},
}


@cache
def _outcomes() -> Mapping[str, str | None]:
    """Return what becomes of each schema, all of them put to one worker."""
    every = {**_NONE, **_SOME, **_FORMATS}
    texts = {name: schemas.text(schema) for name, schema in every.items()}
    return {name: reason_of(found) for name, found in judged("clean", texts).items()}


@pytest.mark.parametrize("name", _NONE)
def test_f25_what_nothing_satisfies_is_rejected_as_that(name: str) -> None:
    """Endless recursion and contradictions are proven; none hangs or passes."""
    assert _outcomes()[name] == Reason.UNSATISFIABLE


@pytest.mark.parametrize("name", _SOME)
def test_f25_recursion_that_ends_is_kept(name: str) -> None:
    """A reference to itself is no fault where an instance may leave it off."""
    assert _outcomes()[name] is None


@pytest.mark.slow
@pytest.mark.parametrize("name", _SOME)
def test_f25_recursion_that_ends_has_instances(name: str) -> None:
    """Two validators accept what is made of it, and it is finite."""
    assert csbdata.witnesses(json.dumps(_SOME[name])).instances


@pytest.mark.parametrize("number", range(len(_UNKNOWN)))
def test_f28_a_format_that_nobody_knows_stays(number: int) -> None:
    """It asserts nothing: an empty name, another vocabulary's, ten thousand letters."""
    assert _outcomes()[f"unknown {number}"] is None


@pytest.mark.parametrize("number", range(len(_NO_NAMES)))
@pytest.mark.parametrize("declared", ["", ", declared"])
def test_f28_a_format_that_is_no_name_is_an_invalid_schema(
    number: int, declared: str
) -> None:
    """Every metaschema wants a string: with a draft that is declared, or inferred."""
    assert _outcomes()[f"no name {number}{declared}"] == Reason.INVALID_SCHEMA


@pytest.mark.parametrize("type_", _OTHER_TYPES)
def test_f28_a_format_of_another_type_asserts_nothing(type_: str) -> None:
    """`date-time` says of strings alone: a number with it is as good as without."""
    assert _outcomes()[f"of {type_}"] is None
