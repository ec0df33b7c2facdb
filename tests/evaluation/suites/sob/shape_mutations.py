"""Mutations of the shape: keys and items that are missing, too many, or elsewhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from curation.json.pointer import Drop, at, rewritten
from evaluation.suites.sob.metrics import Path, all_leaves, f1, pointer_of
from evaluation.suites.sob.scorer import Mistake
from tests.evaluation.suites.sob.leaf_mutations import REFUSAL, schema_at, with_leaf
from tests.evaluation.suites.sob.mutations import (
    EXTRA_ITEM,
    EXTRA_KEYS,
    LACKING,
    MISSING,
    REFUSED,
    VALUE,
    Mutated,
    Mutation,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics import Metric
    from evaluation.suites.sob.records import SobRecord
    from tests.evaluation.suites.sob.mutations import Spoil

_FLOORS: Final = {"text": 0.95, "image": 0.90, "audio": 0.90}
_KEY: Final = "zz_nobody_asked"


def _members(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _required(record: SobRecord) -> list[str]:
    """Return the members that the schema's root requires."""
    names = _members(record.json_schema).get("required")
    listed = names if isinstance(names, list) else []
    return [name for name in listed if isinstance(name, str)]


def _key_left_out(record: SobRecord, truth: Json, draw: Random) -> Mutated:
    name = draw.choice(_required(record))
    return Mutated(json.dumps(rewritten(truth, {(name,): Drop()})), REFUSAL)


def _key_renamed(record: SobRecord, truth: Json, draw: Random) -> Mutated:
    name = draw.choice(_required(record))
    renamed = {
        f"{key}_" if key == name else key: value
        for key, value in _members(truth).items()
    }
    return Mutated(json.dumps(renamed), REFUSAL)


def _optional_left_out(record: SobRecord, truth: Json, _draw: Random) -> Mutated | None:
    for path in all_leaves(truth):
        required = schema_at(record.json_schema, path[:-1]).get("required")
        name = path[-1]
        if isinstance(name, str) and isinstance(required, list):
            if name in required:
                continue
            tokens = tuple(map(str, path))
            left = rewritten(truth, {tokens: Drop()})
            return Mutated(json.dumps(left), pointer_of(path))
    return None


def _arrays(truth: Json) -> dict[Path, list[Json]]:
    """Return the arrays of more than one item, by their paths."""
    found: dict[Path, list[Json]] = {}
    for path in all_leaves(truth):
        for length, step in enumerate(path):
            if isinstance(step, int):
                array = at(truth, tuple(map(str, path[:length])))
                if isinstance(array, list) and len(array) > 1:
                    found[path[:length]] = array
    return found


def _of_an_array(
    change: Callable[[list[Json]], list[Json]], because: str = ""
) -> Spoil:
    """Return a mutation of one array."""

    def spoil(_record: SobRecord, truth: Json, draw: Random) -> Mutated | None:
        arrays = _arrays(truth)
        if not arrays:
            return None
        path = draw.choice(sorted(arrays, key=pointer_of))
        spoilt = with_leaf(truth, path, change(arrays[path]))
        return Mutated(json.dumps(spoilt), because or pointer_of(path))

    return spoil


def _stays_above(record: SobRecord, leaves: int, more: int) -> bool:
    """Return whether coverage stays above its floor with so many spurious leaves."""
    return f1(leaves, leaves + more, leaves) >= _FLOORS[record.source]


def _item_repeated(record: SobRecord, truth: Json, _draw: Random) -> Mutated | None:
    leaves = len(all_leaves(truth))
    for path, array in _arrays(truth).items():
        if _stays_above(record, leaves, len(all_leaves([array[-1]]))):
            spoilt = with_leaf(truth, path, [*array, array[-1]])
            return Mutated(json.dumps(spoilt), Mistake.SPURIOUS_PATH)
    return None


def _is_open(record: SobRecord) -> bool:
    return _members(record.json_schema).get("additionalProperties") is not False


def _with_keys(truth: Json, count: int) -> str:
    more = {f"{_KEY}_{number}": number for number in range(count)}
    return json.dumps({**_members(truth), **more})


def _one_more_key(record: SobRecord, truth: Json, _draw: Random) -> Mutated | None:
    if not _is_open(record) or not _stays_above(record, len(all_leaves(truth)), 1):
        return None
    return Mutated(_with_keys(truth, 1), f"/{_KEY}")


def _many_more_keys(record: SobRecord, truth: Json, _draw: Random) -> Mutated | None:
    if not _is_open(record):
        return None
    return Mutated(_with_keys(truth, len(all_leaves(truth))), Mistake.SPURIOUS_PATH)


def _forbidden_key(record: SobRecord, truth: Json, _draw: Random) -> Mutated | None:
    return None if _is_open(record) else Mutated(_with_keys(truth, 1), REFUSAL)


def _wrapped(change: Callable[[Json], Json]) -> Spoil:
    def spoil(_record: SobRecord, truth: Json, _draw: Random) -> Mutated:
        return Mutated(json.dumps(change(truth)), REFUSAL)

    return spoil


def _text_for_everything(_record: SobRecord, truth: Json, _draw: Random) -> Mutated:
    for path in all_leaves(truth):
        truth = with_leaf(truth, path, "nothing at all")
    return Mutated(json.dumps(truth), REFUSAL)


_CHANGES: Final[tuple[tuple[str, frozenset[Metric], Mistake, Spoil], ...]] = (
    (
        "items in another order",
        VALUE,
        Mistake.VALUE,
        _of_an_array(lambda items: items[::-1]),
    ),
    (
        "an item left out",
        MISSING,
        Mistake.MISSING_PATH,
        _of_an_array(lambda items: items[:-1], Mistake.MISSING_PATH),
    ),
    ("an item twice", EXTRA_ITEM, Mistake.SPURIOUS_PATH, _item_repeated),
    ("an optional key left out", MISSING, Mistake.MISSING_PATH, _optional_left_out),
    ("a key nobody asked for", EXTRA_ITEM, Mistake.SPURIOUS_PATH, _one_more_key),
    ("many keys nobody asked for", EXTRA_KEYS, Mistake.SPURIOUS_PATH, _many_more_keys),
    ("a forbidden key", REFUSED, Mistake.SCHEMA, _forbidden_key),
    ("a required key left out", LACKING, Mistake.SCHEMA, _key_left_out),
    ("a required key renamed", LACKING, Mistake.SCHEMA, _key_renamed),
    ("in an array", LACKING, Mistake.SCHEMA, _wrapped(lambda truth: [truth])),
    ("under a key", LACKING, Mistake.SCHEMA, _wrapped(lambda truth: {"answer": truth})),
    ("an empty object", LACKING, Mistake.SCHEMA, _wrapped(lambda _truth: {})),
    ("a text for everything", REFUSED, Mistake.SCHEMA, _text_for_everything),
)

SHAPE_MUTATIONS: Final = tuple(
    Mutation(name=name, lowers=lowers, mistake=mistake, spoil=spoil)
    for name, lowers, mistake, spoil in _CHANGES
)
