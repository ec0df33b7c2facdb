"""JSON text, read and written without loss: key order, number spelling, duplicates.

`parse` reads bytes into plain Python objects. A number whose spelling Python
would not write back (`1.00`, `1E3`, `-0`) becomes a `SpelledFloat`, so that
`write` gives the author's own spelling wherever no rule touched it. `canonical`
is the identity of a schema: keys sorted by code point, no insignificant
whitespace, UTF-8, integers exact at any size, 1.0 equal to 1.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import partial
from typing import NamedTuple, NoReturn, Self

import msgspec
import orjson

from curation.core.documents import Reason, Rejected
from curation.core.json_types import GivenSchema, Json, UntypedJson
from curation.system.errors import BadData

#: Objects that had equal members, each with their number.
Merged = list[tuple["dict[str, Json]", "dict[str, int]"]]
#: Objects and arrays nested deeper than this are refused (RFC 8259 section 9
#: allows an implementation to set limits).
MAX_DEPTH = 256
#: The least integer that an unsigned 64-bit integer cannot hold.
_PAST_64_BITS = 2**64
_MAX_DOUBLE = int(sys.float_info.max)
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_NEGATIVE_ZERO = re.compile(rb"-0(?![\d.eE])")
#: Decimal arithmetic ends at exponents of 18 digits.
_HUGE_EXPONENT = re.compile(r"[eE][-+]?\d{10}")
#: A number that orjson may spell in its own way, after the prefix of a value in a JSON
#: text, or text like one in a string of it: small, with an exponent, or whole with a
#: fraction. orjson writes what JSON has no number for as null. One class of characters
#: after the other lets `re` pass over a text three times as fast.
_MAYBE_FLOAT = re.compile(
    rb"[:,\[][-\dn](?:\d*(?:[eE]|\.(?:0(?:000|(?!\d))|\d+[eE]))|ull)"
)
_LFS = b"version https://git-lfs.github.com/spec/"


class SpelledFloat(float):
    """A float that remembers how its author wrote it."""

    __slots__ = ("spelling",)
    spelling: str

    def __new__(cls, spelling: str) -> Self:
        """Keep the JSON number token next to its double value."""
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number

    def __reduce__(self) -> tuple[type[SpelledFloat], tuple[str]]:
        """Survive copying between processes."""
        return SpelledFloat, (self.spelling,)


class _RefusalError(ValueError):
    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.rejected = Rejected(reason=reason, detail=detail)


class Policy(NamedTuple):
    """What a reader tolerates; the two rule sets differ here."""

    #: Let the last of two equal keys count, as most parsers do.
    last_key_counts: bool = False
    #: Read integers of 2**64 and more as doubles, as parsers with 64 bits do.
    large_integers_are_floats: bool = False
    #: Let members that are equal, value and all, count once.
    merge_equal_members: bool = False


def parse(
    content: bytes, policy: Policy | None = None, merged: Merged | None = None
) -> Json | Rejected:
    """Return the value of one JSON text (RFC 8259), or why it is not one.

    A byte order mark is dropped (section 8.1 allows it).

    Args:
        content: The bytes of one file.
        policy: Tolerated faults; by default none.
        merged: If given, equal members of one object become one, and each such object
            is added with the counts of these members.

    Example:
        >>> parse(b'{"minimum": 1.50}')["minimum"].spelling
        '1.50'
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    text = _decoded(content)
    if isinstance(text, Rejected):
        return text
    parse_int: Callable[[str], object] | None = None
    if policy and policy.large_integers_are_floats:
        parse_int = _read_large_as_float
    elif _NEGATIVE_ZERO.search(content):
        parse_int = _read_int
    try:
        value: Json = json.loads(
            text,
            object_pairs_hook=(
                None
                if policy and policy.last_key_counts
                else partial(_merge_members, merged=merged)
            ),
            parse_float=_read_float,
            parse_int=parse_int,
            parse_constant=_refuse_constant,
        )
    except _RefusalError as error:
        return error.rejected
    except RecursionError:
        return _TOO_DEEP
    except json.JSONDecodeError as error:
        detail = f"{error.msg} (line {error.lineno}, column {error.colno})"
        return Rejected(reason=Reason.NOT_JSON, detail=detail)
    except ValueError:
        return INTEGER_TOO_LONG
    # A level takes a bracket: with few of them there is nothing to walk for.
    brackets = content.count(b"{") + content.count(b"[")
    if brackets > MAX_DEPTH and depth(value) > MAX_DEPTH:
        return _TOO_DEEP
    if _ESCAPED_SURROGATE.search(content) and _SURROGATE.search(
        json.dumps(value, ensure_ascii=False)
    ):
        detail = "an escaped surrogate without its other half"
        return Rejected(reason=Reason.BAD_ENCODING, detail=detail)
    return value


def _decoded(content: bytes) -> str | Rejected:
    if content.startswith(_LFS):
        return Rejected(reason=Reason.LFS_POINTER, detail="a Git LFS pointer file")
    if b"\0" in content[:4]:
        # RFC 4627 section 3: so UTF-16 and UTF-32 without a mark are known.
        detail = "a zero byte among the first four: UTF-16 or UTF-32, not UTF-8"
        return Rejected(reason=Reason.BAD_ENCODING, detail=detail)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} is not UTF-8"
        return Rejected(reason=Reason.BAD_ENCODING, detail=detail)


#: Limit of the interpreter's guard against quadratic int parsing.
INTEGER_TOO_LONG = Rejected(
    reason=Reason.NUMBER_OUT_OF_RANGE, detail="an integer of more than 4,300 digits"
)
_TOO_DEEP = Rejected(reason=Reason.TOO_DEEP, detail=f"nested over {MAX_DEPTH} levels")


def _merge_members(
    pairs: list[tuple[str, Json]], *, merged: Merged | None
) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    times = Counter(name for name, _ in pairs)
    repeated = {name: count for name, count in times.items() if count > 1}
    for name in repeated:
        if merged is None:
            detail = f"the member {name[:80]!r} stands twice"
            raise _RefusalError(Reason.DUPLICATE_KEYS, detail)
        if len({canonical(value) for key, value in pairs if key == name}) > 1:
            detail = f"the member {name[:80]!r} stands twice, with different values"
            raise _RefusalError(Reason.DUPLICATE_KEYS, detail)
    if merged is not None:
        merged.append((members, repeated))
    return members


def _read_float(spelling: str) -> float:
    value = float(spelling)
    if math.isinf(value):
        detail = f"the number {spelling[:40]} is too large for a double"
        raise _RefusalError(Reason.NUMBER_OUT_OF_RANGE, detail)
    if repr(value) == spelling:
        return value
    if _HUGE_EXPONENT.search(spelling):
        detail = f"the number {spelling[:40]} has an exponent beyond reason"
        raise _RefusalError(Reason.NUMBER_OUT_OF_RANGE, detail)
    return SpelledFloat(spelling)


def _read_large_as_float(spelling: str) -> int | float:
    value = _read_int(spelling)
    return float(value) if _PAST_64_BITS <= value <= _MAX_DOUBLE else value


def _read_int(spelling: str) -> int | float:
    return SpelledFloat(spelling) if spelling == "-0" else int(spelling)


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusalError(Reason.NOT_JSON, f"{name} is not JSON")


def depth(value: Json) -> int:
    """Return how deep objects and arrays nest; a scalar has depth 0."""
    level, deepest = [value], 0
    while True:
        inner: list[Json] = []
        is_nested = False
        for nested in level:
            if isinstance(nested, dict):
                is_nested = True
                inner.extend(nested.values())
            elif isinstance(nested, list):
                is_nested = True
                inner.extend(nested)
        if not is_nested:
            return deepest
        deepest += 1
        level = inner


def any_spelled(value: Json) -> bool:
    """Return whether a number in a value is spelled as Python would not write it."""
    try:
        # orjson refuses a subclass of float, and is faster than any loop of ours.
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        return any(type(number) is SpelledFloat for number in floats(value))
    return False


def nested_values(value: Json) -> Iterator[Json]:
    """Yield a value and all values inside it, in no order."""
    stack = [value]
    while stack:
        nested = stack.pop()
        yield nested
        if isinstance(nested, dict):
            stack.extend(nested.values())
        elif isinstance(nested, list):
            stack.extend(nested)


def floats(value: Json) -> Iterator[float]:
    """Yield the numbers of a value that are floats, at any depth."""
    return (number for number in nested_values(value) if isinstance(number, float))


def _map_numbers(value: Json, convert: Callable[[float], Json]) -> Json:
    if isinstance(value, dict):
        return {name: _map_numbers(member, convert) for name, member in value.items()}
    if isinstance(value, list):
        return [_map_numbers(item, convert) for item in value]
    return convert(value) if isinstance(value, float) else value


def plain(value: Json) -> Json:
    """Return the value with no `SpelledFloat` in it, as the validators want it."""
    return _map_numbers(value, float) if any_spelled(value) else value


def compact(value: Json, option: int | None = None) -> bytes | None:
    """Return a value's text without whitespace, or None if orjson may differ.

    orjson gives up on integers over 64 bits, on deep nesting and on a `SpelledFloat`,
    and spells floats in its own way.

    Args:
        value: The value.
        option: An option of orjson, as `OPT_SORT_KEYS`.
    """
    with suppress(orjson.JSONEncodeError):
        text = orjson.dumps(value, option=option)
        if not _MAYBE_FLOAT.search(b":" + text):
            return text
    return None


def write(value: Json) -> str:
    """Return the JSON text with Python's default separators, non-ASCII as is."""
    return spaced(value, compact(value))


def spaced(value: Json, quick: bytes | None) -> str:
    """Return what `write` does, where `compact` is known already."""
    if quick is not None:
        return msgspec.json.format(quick, indent=0).decode()
    if any_spelled(value):
        return _render(value, canonical=False)
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _render(value: Json, *, canonical: bool) -> str:
    comma, colon = (",", ":") if canonical else (", ", ": ")
    if isinstance(value, dict):
        names = sorted(value) if canonical else value
        members = (
            json.dumps(name, ensure_ascii=False)
            + colon
            + _render(value[name], canonical=canonical)
            for name in names
        )
        return "{" + comma.join(members) + "}"
    if isinstance(value, list):
        items = (_render(item, canonical=canonical) for item in value)
        return "[" + comma.join(items) + "]"
    if isinstance(value, SpelledFloat):
        return _shortest(value) if canonical else value.spelling
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _shortest(number: SpelledFloat) -> str:
    """Return the shortest text that denotes exactly this decimal number."""
    exact = Decimal(number.spelling)
    if exact == exact.to_integral_value():
        return str(int(exact))
    shortest = repr(float(number))
    if Decimal(shortest) == exact:
        return shortest
    digits = len(exact.as_tuple().digits)
    wide = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return str(exact.normalize(wide))


def _unspelled(number: float) -> Json:
    if isinstance(number, SpelledFloat):
        return number
    # 1e+23 is not the integer nearest to it that a double can hold.
    return int(Decimal(repr(number))) if number.is_integer() else number


def canonical(value: Json) -> bytes:
    """Return the canonical form: equal schemas, and only they, have equal bytes.

    Example:
        >>> canonical({"b": 1.0, "a": 2})
        b'{"a":2,"b":1}'
    """
    quick = compact(value, orjson.OPT_SORT_KEYS)
    if quick is not None:
        return quick
    kinds = {type(number) for number in floats(value)}
    if not kinds:
        with suppress(orjson.JSONEncodeError):
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    unspelled = _map_numbers(value, _unspelled) if kinds else value
    if SpelledFloat in kinds:
        return _render(unspelled, canonical=True).encode()
    return json.dumps(
        unspelled,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    ).encode()


def text_of_schema(schema: GivenSchema) -> str:
    """Return the JSON text of a schema that a caller of the library gives.

    Raises:
        BadData: it is not a JSON value.
    """
    if isinstance(schema, str):
        return schema
    try:
        return json.dumps(schema, default=_described)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadData(f"this schema is not a JSON value: {error}") from error


def _described(value: UntypedJson) -> UntypedJson:
    """Return a model's schema, or a mapping of another kind, as `json` writes it."""
    if hasattr(value, "model_json_schema"):
        return value.model_json_schema()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no type of JSON")


def digest(value: Json) -> str:
    """Return the sha256 of the canonical form, in hexadecimal."""
    return compute_digest(canonical(value))


def compute_digest(text: bytes) -> str:
    """Return the sha256 of a canonical form, in hexadecimal."""
    import hashlib  # noqa: PLC0415 - takes 5 ms

    return hashlib.sha256(text).hexdigest()
