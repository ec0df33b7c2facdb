"""Mutations of one leaf: the shape is right, a value is not."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from curation.json.pointer import replaced
from curation.json.values import is_number
from evaluation.suites.sob.metrics import Path, all_leaves, pointer_of
from evaluation.suites.sob.scorer import Mistake
from tests.evaluation.suites.sob.mutations import (
    REFUSED,
    SPELLING,
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

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_NULLABLE_TEXT: Final = ["string", "null"]
REFUSAL: Final = "refused by the schema"


def with_leaf(truth: Json, path: Path, value: Json) -> Json:
    """Return a copy of a truth with another value at a path that is there."""
    return replaced(truth, tuple(map(str, path)), value)


def schema_at(schema: Json, path: Path) -> dict[str, Json]:
    """Return the schema at a path, of what our own records' schemas use."""
    for step in path:
        inner = schema if isinstance(schema, dict) else {}
        properties = inner.get("properties")
        named = properties.get(str(step)) if isinstance(properties, dict) else None
        schema = inner.get("items") if isinstance(step, int) else named
    return schema if isinstance(schema, dict) else {}


def _replacing(
    fits: Callable[[Json, dict[str, Json]], bool],
    new: Callable[[Json], Json],
    because: str = "",
) -> Spoil:
    """Return a mutation of one leaf for which `fits(value, its schema)` holds."""

    def spoil(record: SobRecord, truth: Json, draw: Random) -> Mutated | None:
        leaves = all_leaves(truth)
        found = [
            path
            for path, value in leaves.items()
            if fits(value, schema_at(record.json_schema, path))
        ]
        if not found:
            return None
        path = draw.choice(found)
        spoilt = with_leaf(truth, path, new(leaves[path]))
        text = json.dumps(spoilt, ensure_ascii=False)
        return Mutated(text, because or pointer_of(path))

    return spoil


def _is_text(value: Json, schema: dict[str, Json]) -> bool:
    is_free = isinstance(value, str) and "enum" not in schema
    return is_free and not _DATE.fullmatch(str(value))


def _is_lettered(value: Json, schema: dict[str, Json]) -> bool:
    return _is_text(value, schema) and str(value).swapcase() != value


def _is_words(value: Json, schema: dict[str, Json]) -> bool:
    words = str(value).split()
    return _is_text(value, schema) and len(words) == len(set(words)) > 1


def _is_figure(value: Json, _schema: dict[str, Json]) -> bool:
    return is_number(value)


def _is_positive(value: Json, _schema: dict[str, Json]) -> bool:
    return is_number(value) and value > 0


def _is_boolean(value: Json, _schema: dict[str, Json]) -> bool:
    return isinstance(value, bool)


def _is_date(value: Json, _schema: dict[str, Json]) -> bool:
    return isinstance(value, str) and bool(_DATE.fullmatch(value))


def _may_be_null(value: Json, schema: dict[str, Json]) -> bool:
    return value is not None and isinstance(schema.get("type"), list)


def _is_null_for_text(value: Json, schema: dict[str, Json]) -> bool:
    return value is None and schema.get("type") == _NULLABLE_TEXT


def _is_of_enum(value: Json, schema: dict[str, Json]) -> bool:
    return isinstance(value, str) and "enum" in schema


def _one_more(value: Json) -> Json:
    return value + 1 if is_number(value) else value


def _negative(value: Json) -> Json:
    return -value if is_number(value) else value


def _turned_words(value: Json) -> Json:
    return " ".join(reversed(str(value).split()))


def _but_the_last_word(value: Json) -> Json:
    return " ".join(str(value).split()[:-1])


_CHANGES: Final[tuple[tuple[str, frozenset[Metric], Mistake, Spoil], ...]] = (
    (
        "another text",
        VALUE,
        Mistake.VALUE,
        _replacing(_is_text, lambda _value: "Nowhere Unheard"),
    ),
    (
        "letters of another case",
        SPELLING,
        Mistake.VALUE,
        _replacing(_is_lettered, lambda value: str(value).swapcase()),
    ),
    (
        "an article too many",
        SPELLING,
        Mistake.VALUE,
        _replacing(_is_text, lambda value: f"an {value}"),
    ),
    (
        "a full stop too many",
        SPELLING,
        Mistake.VALUE,
        _replacing(_is_text, lambda value: f"{value}."),
    ),
    (
        "words in another order",
        SPELLING,
        Mistake.VALUE,
        _replacing(_is_words, _turned_words),
    ),
    (
        "the last word left out",
        VALUE,
        Mistake.VALUE,
        _replacing(_is_words, _but_the_last_word),
    ),
    (
        "a word too many",
        VALUE,
        Mistake.VALUE,
        _replacing(_is_text, lambda value: f"{value} American"),
    ),
    ("a number off by one", VALUE, Mistake.VALUE, _replacing(_is_figure, _one_more)),
    (
        "a number of the wrong sign",
        SPELLING,
        Mistake.VALUE,
        _replacing(_is_positive, _negative),
    ),
    (
        "a boolean turned round",
        VALUE,
        Mistake.VALUE,
        _replacing(_is_boolean, lambda value: not value),
    ),
    (
        "another date",
        VALUE,
        Mistake.VALUE,
        _replacing(_is_date, lambda _value: "1066-10-14"),
    ),
    (
        "null for a value",
        VALUE,
        Mistake.VALUE,
        _replacing(_may_be_null, lambda _value: None),
    ),
    (
        "a value for null",
        VALUE,
        Mistake.VALUE,
        _replacing(_is_null_for_text, lambda _value: "made up"),
    ),
    (
        "null as a text",
        SPELLING,
        Mistake.TYPE,
        _replacing(_is_null_for_text, lambda _value: "null"),
    ),
    (
        "a number as a text",
        REFUSED,
        Mistake.SCHEMA,
        _replacing(_is_figure, str, REFUSAL),
    ),
    (
        "a boolean as a text",
        REFUSED,
        Mistake.SCHEMA,
        _replacing(_is_boolean, lambda value: str(value).lower(), REFUSAL),
    ),
    (
        "a word that is none of the enum",
        REFUSED,
        Mistake.SCHEMA,
        _replacing(_is_of_enum, lambda _value: "other", REFUSAL),
    ),
    (
        "an object for a value",
        REFUSED,
        Mistake.SCHEMA,
        _replacing(_is_text, lambda value: {"value": value}, REFUSAL),
    ),
)

LEAF_MUTATIONS: Final = tuple(
    Mutation(name=name, lowers=lowers, mistake=mistake, spoil=spoil)
    for name, lowers, mistake, spoil in _CHANGES
)
