"""The smallest part of a schema that still shows a failure.

Delta debugging over JSON (Zeller and Hildebrandt, 2002, made hierarchical): whole
subschemas are lifted to the root, members and items are left out by halves and then
one by one, whole numbers lose their digits, as long as the failure stays.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from curation.core.json_types import Json

_T = TypeVar("_T")
#: Members of a root that a lifted subschema may refer to, or that say what it is.
_ROOT = ("$schema", "$defs", "definitions")


def shrink(value: Json, still: Callable[[Json], bool], most: int = 300) -> Json:
    """Return a smaller value for which `still` holds, after `most` questions at most.

    `value` itself is taken to hold; it is returned where nothing smaller does.
    """
    asked = {_text(value)}
    left = most
    again = True
    while again:
        again = False
        for candidate in _smaller(value):
            text = _text(candidate)
            if text in asked or len(text) >= len(_text(value)):
                continue
            if not left:
                return value
            asked.add(text)
            left -= 1
            if still(candidate):
                value, again = candidate, True
                break
    return value


def _text(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


def _smaller(root: Json) -> Iterator[Json]:
    """Yield what is left of a value without some part, the largest parts first."""
    places = sorted(_places(root), key=lambda part: -len(_text(part[1])))
    if isinstance(root, dict):
        kept = {name: root[name] for name in _ROOT if name in root}
        for path, value in sorted(places, key=lambda part: len(_text(part[1]))):
            if path and isinstance(value, dict):
                yield {**kept, **value}
                yield value
    for path, value in places:
        for less in _less(value):
            yield _with(root, path, less)


def _places(
    value: Json, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield every value inside, with its path; no deeper than a stack holds."""
    waiting = [(path, value)]
    while waiting:
        where, part = waiting.pop()
        yield where, part
        if isinstance(part, dict):
            waiting += [((*where, name), inner) for name, inner in part.items()]
        elif isinstance(part, list):
            waiting += [((*where, index), inner) for index, inner in enumerate(part)]


def _less(value: Json) -> Iterator[Json]:
    """Yield what is left of one value: without halves, then without single parts."""
    if isinstance(value, dict):
        names = list(value)
        for gone in _parts(names):
            yield {name: member for name, member in value.items() if name not in gone}
    elif isinstance(value, list):
        for left_out in _parts(range(len(value))):
            yield [item for index, item in enumerate(value) if index not in left_out]
    elif isinstance(value, int) and not isinstance(value, bool):
        yield 1
        yield value // 10 if value > 0 else -(-value // 10)


def _parts(items: Sequence[_T]) -> Iterator[set[_T]]:
    size = len(items) // 2
    while size:
        for start in range(0, len(items), size):
            yield set(items[start : start + size])
        size //= 2
    if len(items) == 1:
        yield set(items)


def _with(root: Json, path: tuple[str | int, ...], value: Json) -> Json:
    """Return the root with another value at a path; the root itself stays as it is."""
    if not path:
        return value
    step, *rest = path
    if isinstance(root, list) and isinstance(step, int):
        items = list(root)
        items[step] = _with(root[step], tuple(rest), value)
        return items
    if isinstance(root, dict) and isinstance(step, str):
        return {**root, step: _with(root[step], tuple(rest), value)}
    raise TypeError(path)
