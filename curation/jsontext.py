"""JSON text that stays honest: key order, number spelling and duplicates.

`parse` reads bytes into plain Python objects. A number whose spelling Python
would not write back (`1.00`, `1E3`, `-0`) becomes a `SpelledFloat`, so that
`write` gives the author's own spelling wherever no rule touched it. `canonical`
is the identity of a schema: keys sorted by code point, no insignificant
whitespace, UTF-8, integers exact at any size, 1.0 equal to 1.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Self

from curation.documents import Json, Reason, Rejected

if TYPE_CHECKING:
    from collections.abc import Callable

#: Objects and arrays nested deeper than this are refused (RFC 8259 section 9
#: allows an implementation to set limits).
MAX_DEPTH = 256
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_NEGATIVE_ZERO = re.compile(rb"-0(?![\d.eE])")
_LFS = b"version https://git-lfs.github.com/spec/"


class SpelledFloat(float):
    """A float that remembers how its author wrote it."""

    __slots__ = ("spelling",)
    spelling: str

    def __new__(cls, spelling: str) -> Self:
        """Keep the JSON number token beside its double value."""
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number

    def __reduce__(self) -> tuple[type[SpelledFloat], tuple[str]]:
        """Survive copying between processes."""
        return SpelledFloat, (self.spelling,)


class _DuplicateKeyError(ValueError):
    """Two members of one object have the same name."""


class _RangeError(ValueError):
    """A number that no double can hold, or that Python refuses to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a reader tolerates; the two rule sets differ here."""

    #: Let the last of two equal keys count, as most parsers do.
    last_key_counts: bool = False


def parse(content: bytes, policy: Policy | None = None) -> Json | Rejected:
    """Read one JSON text (RFC 8259), or say why it is not one.

    A byte order mark is accepted and dropped (RFC 8259 section 8.1 allows it).
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    if content.startswith(_LFS):
        return Rejected(reason=Reason.LFS_POINTER, detail="a Git LFS pointer file")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} is not UTF-8"
        return Rejected(reason=Reason.BAD_ENCODING, detail=detail)
    read_int = _read_int if _NEGATIVE_ZERO.search(content) else None
    pairs = None if policy and policy.last_key_counts else _refuse_duplicates
    try:
        value = json.loads(
            text,
            object_pairs_hook=pairs,
            parse_float=_read_float,
            parse_int=read_int,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        return _too_deep()
    except _DuplicateKeyError as error:
        return Rejected(reason=Reason.DUPLICATE_KEYS, detail=str(error))
    except _RangeError as error:
        return Rejected(reason=Reason.NUMBER_OUT_OF_RANGE, detail=str(error))
    except json.JSONDecodeError as error:
        detail = f"{error.msg} (line {error.lineno}, column {error.colno})"
        return Rejected(reason=Reason.NOT_JSON, detail=detail)
    except ValueError as error:
        # The interpreter's guard against quadratic int parsing (4,300 digits).
        return Rejected(reason=Reason.NUMBER_OUT_OF_RANGE, detail=str(error))
    if depth(value) > MAX_DEPTH:
        return _too_deep()
    if _ESCAPED_SURROGATE.search(content) and _has_lone_surrogate(value):
        detail = "an escaped surrogate without its other half"
        return Rejected(reason=Reason.BAD_ENCODING, detail=detail)
    return value


def _too_deep() -> Rejected:
    return Rejected(reason=Reason.TOO_DEEP, detail=f"nested over {MAX_DEPTH} levels")


def _refuse_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _DuplicateKeyError(f"the member {name[:80]!r} stands twice")
            seen.add(name)
    return members


def _read_float(spelling: str) -> float:
    value = float(spelling)
    if math.isinf(value):
        raise _RangeError(f"the number {spelling[:40]} is too large for a double")
    return value if repr(value) == spelling else SpelledFloat(spelling)


def _read_int(spelling: str) -> int | float:
    return SpelledFloat(spelling) if spelling == "-0" else int(spelling)


def _refuse_constant(name: str) -> Json:
    raise json.JSONDecodeError(f"{name} is not JSON", name, 0)


def _has_lone_surrogate(value: Json) -> bool:
    return bool(_SURROGATE.search(json.dumps(value, ensure_ascii=False)))


def depth(value: Json) -> int:
    """Return how deep objects and arrays nest; a scalar has depth 0."""
    level, deepest = [value], 0
    while True:
        inner: list[Json] = []
        found = False
        for each in level:
            if isinstance(each, dict):
                found = True
                inner.extend(each.values())
            elif isinstance(each, list):
                found = True
                inner.extend(each)
        if not found:
            return deepest
        deepest += 1
        level = inner


def any_spelled(value: Json) -> bool:
    """Tell whether a number in here is spelled in a way of its own."""
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, dict):
            stack.extend(each.values())
        elif isinstance(each, list):
            stack.extend(each)
        elif type(each) is SpelledFloat:
            return True
    return False


def _map_numbers(value: Json, convert: Callable[[float], Json]) -> Json:
    if isinstance(value, dict):
        return {name: _map_numbers(each, convert) for name, each in value.items()}
    if isinstance(value, list):
        return [_map_numbers(each, convert) for each in value]
    return convert(value) if isinstance(value, float) else value


def plain(value: Json) -> Json:
    """Return the value with ordinary floats only, as the validators want it."""
    return _map_numbers(value, float) if any_spelled(value) else value


def write(value: Json) -> str:
    """Return the JSON text with Python's default separators, non-ASCII as is."""
    if any_spelled(value):
        return _render(value, _SPELLED)
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True)
class _Style:
    comma: str
    colon: str
    sort: bool
    number: Callable[[SpelledFloat], str]


def _render(value: Json, style: _Style) -> str:
    """Write a value that holds numbers which `json` would spell its own way."""
    if isinstance(value, dict):
        names = sorted(value) if style.sort else value
        members = (
            json.dumps(name, ensure_ascii=False)
            + style.colon
            + _render(value[name], style)
            for name in names
        )
        return "{" + style.comma.join(members) + "}"
    if isinstance(value, list):
        return "[" + style.comma.join(_render(each, style) for each in value) + "]"
    if isinstance(value, SpelledFloat):
        return style.number(value)
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
    return str(exact.normalize(Context(prec=digits)))


_SPELLED = _Style(", ", ": ", sort=False, number=lambda number: number.spelling)
_CANONICAL = _Style(",", ":", sort=True, number=_shortest)


def _unspelled(number: float) -> Json:
    if isinstance(number, SpelledFloat):
        return number
    return int(number) if number.is_integer() else number


def canonical(value: Json) -> bytes:
    """Return the canonical form: equal schemas, and only they, have equal bytes."""
    unspelled = _map_numbers(value, _unspelled)
    if any_spelled(value):
        return _render(unspelled, _CANONICAL).encode()
    return json.dumps(
        unspelled,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    ).encode()


def digest(value: Json) -> str:
    """Return the sha256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()
