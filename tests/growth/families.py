"""Families of schemas, each by a size n: what grows, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

    Schema: TypeAlias = "dict[str, UntypedJson]"

_DRAFT_04: Final = "http://json-schema.org/draft-04/schema#"
_STRING: Final = {"type": "string"}


def _object(properties: Schema, **more: UntypedJson) -> Schema:
    return {"type": "object", "properties": properties, **more}


def _names(n: int) -> list[str]:
    return [f"p{i}" for i in range(n)]


def _definitions(n: int, definition: Callable[[int], UntypedJson]) -> Schema:
    return {f"d{i}": definition(i) for i in range(n)}


def _reference(i: int) -> Schema:
    return {"$ref": f"#/$defs/d{i}"}


def _properties(member: Callable[[int], UntypedJson]) -> Callable[[int], Schema]:
    """Return the family of objects with n properties."""
    return lambda n: _object({f"p{i}": member(i) for i in range(n)})


def _referring(
    definition: Callable[[int, int], UntypedJson],
) -> Callable[[int], Schema]:
    """Return the family of n definitions, made of number and n; each is referred to."""
    return lambda n: _object(
        {f"p{i}": _reference(i) for i in range(n)},
        **{"$defs": _definitions(n, lambda i: definition(i, n))},
    )


def _deep(n: int) -> Schema:
    schema: Schema = dict(_STRING)
    for _ in range(n):
        schema = _object({"p": schema}, required=["p"])
    return schema


def _chain(n: int) -> Schema:
    definitions = _definitions(n, lambda i: _object({"next": _reference(i + 1)}))
    return {**_reference(0), "$defs": {**definitions, f"d{n}": _STRING}}


def _diamond(n: int) -> Schema:
    """Return definitions of which each is reached from the one before in two ways."""
    both = _definitions(
        n, lambda i: _object({"a": _reference(i + 1), "b": _reference(i + 1)})
    )
    return {**_reference(0), "$defs": {**both, f"d{n}": _STRING}}


def _circle(i: int, n: int) -> Schema:
    return _object({"next": _reference((i + 1) % n)})


def _five_references(i: int, n: int) -> Schema:
    """Return a definition with references to the next five, without a circle."""
    following = [j for j in range(i + 1, i + 6) if j < n]
    return _object({f"q{j}": _reference(j) for j in following})


def _conditional(i: int) -> Schema:
    return {
        "if": {"properties": {"k": {"const": f"v{i}"}}},
        "then": {"required": [f"q{i}"]},
    }


def _branch(i: int) -> Schema:
    return _object({"kind": {"const": f"k{i}"}, "v": _STRING}, required=["kind"])


#: By name: from n to the schema.
FAMILIES: Final[Mapping[str, Callable[[int], Schema]]] = {
    "wide": _properties(lambda _: _STRING),
    # Readers end at a nesting of some hundred: there is no time to be measured.
    "deep": lambda n: _deep(min(n // 2, 64)),
    "chain of $ref": _chain,
    "fan of $ref": _referring(lambda *_: _STRING),
    "five $ref each": _referring(_five_references),
    "circle of $ref": _referring(_circle),
    "diamond of $ref": _diamond,
    "one definition": lambda n: _object(
        {name: {"$ref": "#/$defs/d"} for name in _names(n)}, **{"$defs": {"d": _STRING}}
    ),
    "$id": _referring(lambda i, _: {"$id": f"https://a.test/{i}", **_STRING}),
    "$anchor": lambda n: _object(
        {f"p{i}": {"$ref": f"#a{i}"} for i in range(n)},
        **{"$defs": _definitions(n, lambda i: {"$anchor": f"a{i}", **_STRING})},
    ),
    "unused definitions": lambda n: {**_STRING, "$defs": _definitions(n, lambda _: {})},
    "anyOf": lambda n: {"anyOf": [_branch(i) for i in range(n)]},
    "oneOf": lambda n: {"oneOf": [_branch(i) for i in range(n)]},
    "allOf of if": lambda n: _object(
        {"k": _STRING}, allOf=[_conditional(i) for i in range(n)]
    ),
    "enum": lambda n: {"enum": _names(n)},
    "patternProperties": lambda n: {
        "type": "object",
        "patternProperties": {f"^p{i}_": _STRING for i in range(n)},
    },
    "required": lambda n: _object(
        dict.fromkeys(_names(n), _STRING), required=_names(n)
    ),
    "misspelt keywords": _properties(lambda _: {"type": "string", "maxlength": 9}),
    "long strings": lambda n: {
        "type": "string",
        "description": "a long text " * 20 * n,
        "enum": ["x" * 200 * n],
    },
    "type: int": _properties(lambda _: {"type": "int"}),
    "string for a schema": _properties(lambda _: "string"),
    "quoted numbers": _properties(lambda _: {"type": "string", "minLength": "1"}),
    "patterns to mend": _properties(lambda _: {"type": "string", "pattern": "^[[]$"}),
    "required: true": lambda n: {
        "$schema": _DRAFT_04,
        **_object({name: {"type": "string", "required": True} for name in _names(n)}),
    },
    "dependentRequired": lambda n: _object(
        dict.fromkeys(_names(n), _STRING),
        dependentRequired={name: ["p0"] for name in _names(n)},
    ),
}
