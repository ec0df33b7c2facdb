"""JSON values: types, equality, walks, and texts remembered by object."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import wraps
from threading import Lock
from typing import TypeGuard, TypeVar, TypeVarTuple

import orjson

from curation.core.json_types import Json
from curation.json.pointer import Tokens
from curation.json.text import canonical, compact, plain, spaced


def identity(value: Json) -> bytes:
    """Return bytes that two values share if JSON Schema takes them for equal.

    Example:
        >>> identity([1, True]) == identity([1.0, True])
        True
        >>> identity(1) == identity(True)
        False
    """
    return canonical(value)


def json_type(value: Json) -> str:
    """Return the type of a value; a number without a fraction is an `integer`.

    Example:
        >>> [json_type(value) for value in (1.0, 1.5, True, None)]
        ['integer', 'number', 'boolean', 'null']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "object" if isinstance(value, dict) else "array"


def is_number(value: Json) -> TypeGuard[int | float]:
    """Return whether a value is a number in JSON, where booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_multiple(value: float, step: float) -> bool:
    """Return whether a number is a multiple of another, both read as decimals.

    Example:
        >>> is_multiple(0.3, 0.1)
        True
    """
    return Fraction(str(value)) % Fraction(str(step)) == 0


Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")
#: Answers remembered of one function; more would keep documents that are done.
_REMEMBERED = 8


def remembered(work: Callable[[*Arguments], Result]) -> Callable[[*Arguments], Result]:
    """Return the function with its last answers remembered, by its very arguments.

    An equal argument that is another object is distinct: `1` and `1.0` are equal
    in Python and are not in a schema's text.

    Args:
        work: A pure function. Neither its arguments nor its results, which are shared,
            may be changed.

    Example:
        >>> size = remembered(lambda value, more: len(value) + more)
        >>> size([1, 2], 1)
        3
    """
    # The entry keeps the arguments: while they live, no other object has their ids.
    cache: dict[tuple[int, ...], tuple[tuple[*Arguments], Result]] = {}
    changing = Lock()

    @wraps(work)
    def ask(*arguments: *Arguments) -> Result:
        key = tuple(map(id, arguments))
        entry = cache.get(key)
        if entry is None:
            entry = arguments, work(*arguments)
            with changing:
                if len(cache) >= _REMEMBERED:
                    del cache[next(iter(cache))]
                cache[key] = entry
        return entry[1]

    return ask


@remembered
def compact_of_document(schema: Json) -> bytes | None:
    """Return what `curation.json.text.compact` does."""
    return compact(schema)


@remembered
def plain_of_document(schema: Json) -> Json:
    """Return what `curation.json.text.plain` does."""
    # Where orjson gives the very text, it has met no spelled number.
    return schema if compact_of_document(schema) else plain(schema)


def write_document(schema: Json) -> str:
    """Return what `curation.json.text.write` does."""
    return spaced(schema, compact_of_document(schema))


@remembered
def canonical_of_part(value: Json, schema: Json) -> bytes:
    """Return what `curation.json.text.canonical` does of a document, or a part of it.

    Args:
        value: The document's schema, or one with no other numbers.
        schema: The document's schema.
    """
    if compact_of_document(schema) is not None:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return canonical(value)


#: The types of values that hold others.
_HOLDERS = (dict, list)


def searchable(value: Json) -> bytes:
    """Return compact JSON text, to see quickly whether a walk is needed.

    Strings are escaped as in JSON; numbers may be spelled again.
    """
    compact = compact_of_document(value)
    if compact is not None:
        return compact
    try:
        return orjson.dumps(value, default=float)
    except orjson.JSONEncodeError:
        # An integer past 64 bits, or nested deeper than orjson goes.
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode()


def objects(value: Json) -> Iterator[tuple[Tokens, dict[str, Json]]]:
    """Yield every object at any depth with its tokens, outermost first, in order."""
    stack: list[tuple[Tokens, Json]] = [((), value)]
    while stack:
        tokens, nested = stack.pop()
        members: Iterable[tuple[str | int, Json]] = ()
        if isinstance(nested, dict):
            yield tokens, nested
            members = nested.items()
        elif isinstance(nested, list):
            members = enumerate(nested)
        inner = [
            ((*tokens, str(step)), member)
            for step, member in members
            if isinstance(member, _HOLDERS)
        ]
        stack.extend(reversed(inner))
