"""Every mutation of a right answer, and the metrics that it lowers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias

from curation.json.pointer import Drop, at, replaced, rewritten
from curation.json.values import is_number
from evaluation.suites.sob.metrics import Metric, Path, all_leaves, f1, pointer_of
from evaluation.suites.sob.scorer import Mistake
from tests.evaluation.suites.known_answers import KnownAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curation.core.json_types import Json
    from evaluation.suites.sob.records import SobRecord


#: Every metric: of a text that is not parsed.
EVERYTHING: Final = frozenset(Metric)
#: Of an answer that its schema refuses.
REFUSED: Final = EVERYTHING - {Metric.JSON_PARSE}
_WHOLE: Final = frozenset({Metric.PERFECT, Metric.PERFECT_AND_VALID})
#: Of a value in other words.
SPELLING: Final = _WHOLE | {Metric.VALUE_ACCURACY}
#: Of a wrong value.
VALUE: Final = SPELLING | {Metric.FAITHFULNESS}
#: Of a path that is missing, though it need not be there.
MISSING: Final = VALUE | {Metric.PATH_RECALL, Metric.STRUCTURE_COVERAGE}
#: Of one item or key too many, where coverage stays above its floor.
EXTRA_ITEM: Final = _WHOLE | {Metric.STRUCTURE_COVERAGE}
#: Of so many keys that no schema names that coverage falls below its floor.
EXTRA_KEYS: Final = EXTRA_ITEM | {Metric.VALUE_ACCURACY, Metric.FAITHFULNESS}
#: Of another way to write the same.
NOTHING: Final = frozenset[Metric]()


@dataclass(frozen=True, slots=True)
class Mutated:
    """A mutated answer."""

    text: str | None
    #: What one of the verdict's reasons must hold.
    because: str = ""


#: Returns a spoilt copy of a record's truth; draws are of record and mutation.
Spoil: TypeAlias = "Callable[[SobRecord, Json, Random], Mutated | None]"
_Fits: TypeAlias = "Callable[[Json, dict[str, Json]], bool]"
_Change: TypeAlias = "Callable[[Json], Json]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One kind of mutated answers."""

    name: str
    #: The metrics that fall below 1, all others staying there.
    lowers: frozenset[Metric]
    #: The class of the answer; None for one that is right.
    mistake: Mistake | None
    spoil: Spoil
    #: Whether the published reading agrees.
    in_both_readings: bool = True


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
    fits: _Fits,
    new: _Change,
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


#: Name, the metrics that fall, which leaves are spoilt, and what they become.
_LEAVES: Final[tuple[tuple[str, frozenset[Metric], _Fits, _Change], ...]] = (
    ("another text", VALUE, _is_text, lambda _value: "Nowhere Unheard"),
    ("letters of another case", SPELLING, _is_lettered, lambda it: str(it).swapcase()),
    ("an article too many", SPELLING, _is_text, lambda value: f"an {value}"),
    ("a full stop too many", SPELLING, _is_text, lambda value: f"{value}."),
    ("words in another order", SPELLING, _is_words, _turned_words),
    ("the last word left out", VALUE, _is_words, _but_the_last_word),
    ("a word too many", VALUE, _is_text, lambda value: f"{value} American"),
    ("a number off by one", VALUE, _is_figure, _one_more),
    ("a number of the wrong sign", SPELLING, _is_positive, _negative),
    ("a boolean turned round", VALUE, _is_boolean, lambda value: not value),
    ("another date", VALUE, _is_date, lambda _value: "1066-10-14"),
    ("null for a value", VALUE, _may_be_null, lambda _value: None),
    ("a value for null", VALUE, _is_null_for_text, lambda _value: "made up"),
    ("null as a text", SPELLING, _is_null_for_text, lambda _value: "null"),
    ("a number as a text", REFUSED, _is_figure, str),
    ("a boolean as a text", REFUSED, _is_boolean, lambda value: str(value).lower()),
    ("a word that is none of the enum", REFUSED, _is_of_enum, lambda _value: "other"),
    ("an object for a value", REFUSED, _is_text, lambda value: {"value": value}),
)


def _leaf_mutation(
    name: str,
    lowers: frozenset[Metric],
    fits: _Fits,
    new: _Change,
) -> Mutation:
    refused = lowers is REFUSED
    mistake = Mistake.SCHEMA if refused else Mistake.VALUE
    if name == "null as a text":
        mistake = Mistake.TYPE
    spoil = _replacing(fits, new, REFUSAL if refused else "")
    return Mutation(name=name, lowers=lowers, mistake=mistake, spoil=spoil)


LEAF_MUTATIONS: Final = tuple(_leaf_mutation(*row) for row in _LEAVES)

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


def _reversed(items: list[Json]) -> list[Json]:
    return items[::-1]


def _but_the_last(items: list[Json]) -> list[Json]:
    return items[:-1]


_LEFT_OUT: Final = Mistake.MISSING_PATH
_SHAPES: Final[tuple[tuple[str, frozenset[Metric], Mistake, Spoil], ...]] = (
    ("items in another order", VALUE, Mistake.VALUE, _of_an_array(_reversed)),
    ("an item left out", MISSING, _LEFT_OUT, _of_an_array(_but_the_last, _LEFT_OUT)),
    ("an item twice", EXTRA_ITEM, Mistake.SPURIOUS_PATH, _item_repeated),
    ("an optional key left out", MISSING, _LEFT_OUT, _optional_left_out),
    ("a key nobody asked for", EXTRA_ITEM, Mistake.SPURIOUS_PATH, _one_more_key),
    ("many keys nobody asked for", EXTRA_KEYS, Mistake.SPURIOUS_PATH, _many_more_keys),
    ("a forbidden key", REFUSED, Mistake.SCHEMA, _forbidden_key),
    ("a required key left out", REFUSED, Mistake.SCHEMA, _key_left_out),
    ("a required key renamed", REFUSED, Mistake.SCHEMA, _key_renamed),
    ("in an array", REFUSED, Mistake.SCHEMA, _wrapped(lambda truth: [truth])),
    ("under a key", REFUSED, Mistake.SCHEMA, _wrapped(lambda truth: {"answer": truth})),
    ("an empty object", REFUSED, Mistake.SCHEMA, _wrapped(lambda _truth: {})),
    ("a text for everything", REFUSED, Mistake.SCHEMA, _text_for_everything),
)

SHAPE_MUTATIONS: Final = tuple(
    Mutation(name=name, lowers=lowers, mistake=mistake, spoil=spoil)
    for name, lowers, mistake, spoil in _SHAPES
)


def _written(change: Callable[[str], str]) -> Spoil:
    """Return a mutation of the truth's text."""

    def spoil(_record: SobRecord, truth: Json, _draw: Random) -> Mutated:
        return Mutated(change(json.dumps(truth, ensure_ascii=False)))

    return spoil


def _cut(_record: SobRecord, truth: Json, draw: Random) -> Mutated:
    text = json.dumps(truth)
    return Mutated(text[: draw.randint(1, len(text) - 1)])


def _not_a_number(_record: SobRecord, truth: Json, _draw: Random) -> Mutated | None:
    if not isinstance(truth, dict):
        return None
    number = next((name for name, value in truth.items() if type(value) is int), None)
    if number is None:
        return None
    text = json.dumps({**truth, number: "@"}).replace('"@"', "NaN")
    return Mutated(text, "NaN")


def _no_answer(_record: SobRecord, _truth: Json, _draw: Random) -> Mutated:
    return Mutated(None)


def _repeated_key(_record: SobRecord, truth: Json, _draw: Random) -> Mutated | None:
    if not isinstance(truth, dict) or not truth:
        return None
    first = json.dumps(next(iter(truth)))
    return Mutated("{" + f'{first}: "overwritten", ' + json.dumps(truth)[1:])


def _turned(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _turned(value[name]) for name in reversed(value)}
    return list(map(_turned, value)) if isinstance(value, list) else value


def _other_order(_record: SobRecord, truth: Json, _draw: Random) -> Mutated:
    return Mutated(json.dumps(_turned(truth)))


def _floats(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _floats(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return list(map(_floats, value))
    return float(value) if type(value) is int else value


def _with_fractions(_record: SobRecord, truth: Json, _draw: Random) -> Mutated:
    return Mutated(json.dumps(_floats(truth)))


_UNPARSED: Final[dict[str, Spoil]] = {
    "cut": _cut,
    "trailing comma": _written(lambda text: f"{text[:-1]},}}"),
    "single quotes": _written(lambda text: text.replace('"', "'")),
    "comment": _written(lambda text: f"{{ // done\n{text[1:]}"),
    "keys without quotes": _written(lambda text: text.replace('"', "")),
    "string that holds JSON": _written(json.dumps),
    "Python's words": _written(
        lambda text: (
            text.replace("null", "None")
            .replace("true", "True")
            .replace("false", "False")
            .replace('": "', "\": '")
        )
    ),
    "scalar": _written(lambda _text: "42"),
    "null": _written(lambda _text: "null"),
    "empty": _written(lambda _text: ""),
    "deep": _written(lambda _text: "[" * 10_000 + "]" * 10_000),
}
_HARMLESS: Final[dict[str, Spoil]] = {
    "reference": _written(lambda text: text),
    "white space": _written(lambda text: f"\n {text.replace(', ', ' ,')}\t"),
    "escaped letters": _written(
        lambda text: (
            text.replace("e", "\\u0065")
            .replace("tru\\u0065", "true")
            .replace("fals\\u0065", "false")
        )
    ),
    "keys in another order": _other_order,
    "integers with a fraction of zero": _with_fractions,
    "a key twice, the last one right": _repeated_key,
}

TEXT_MUTATIONS: Final = (
    Mutation(
        name="no answer", lowers=EVERYTHING, mistake=Mistake.NO_ANSWER, spoil=_no_answer
    ),
    *(
        Mutation(name=name, lowers=EVERYTHING, mistake=Mistake.PARSE, spoil=spoil)
        for name, spoil in _UNPARSED.items()
    ),
    Mutation(
        name="NaN",
        lowers=EVERYTHING,
        mistake=Mistake.PARSE,
        spoil=_not_a_number,
        in_both_readings=False,
    ),
    *(
        Mutation(name=name, lowers=NOTHING, mistake=None, spoil=spoil)
        for name, spoil in _HARMLESS.items()
    ),
)

MUTATIONS: Final = (*TEXT_MUTATIONS, *LEAF_MUTATIONS, *SHAPE_MUTATIONS)


def mutated(record: SobRecord, mutation: Mutation) -> Mutated | None:
    """Return a record's answer with one mutation; None where it cannot have it."""
    draw = Random(f"{record.record_id}/{mutation.name}")
    return mutation.spoil(record, record.ground_truth, draw)


def answers_known(record: SobRecord, *, published: bool) -> Iterator[KnownAnswer]:
    """Yield every known answer to a record of ours.

    Args:
        record: A record whose truth its schema accepts.
        published: Whether the published reading decides.
    """
    for mutation in MUTATIONS:
        if published and not mutation.in_both_readings:
            continue
        found = mutated(record, mutation)
        if found is not None:
            yield KnownAnswer(
                kind=mutation.name,
                text=found.text,
                expected=mutation.mistake or "",
                because=found.because if mutation.mistake else "",
            )
