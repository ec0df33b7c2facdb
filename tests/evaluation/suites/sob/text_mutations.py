"""Mutations of the text: no JSON, JSON among words, or JSON written otherwise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from evaluation.suites.sob.scorer import Mistake
from tests.evaluation.suites.sob.mutations import EVERYTHING, NOTHING, Mutated, Mutation

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from curation.core.json_types import Json
    from evaluation.suites.sob.records import SobRecord
    from tests.evaluation.suites.sob.mutations import Spoil


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
    "words before": _written(lambda text: f"Here is the JSON:\n{text}"),
    "words after": _written(lambda text: f"{text}\nI hope this helps."),
    "fence": _written(lambda text: f"```json\n{text}\n```"),
    "trailing comma": _written(lambda text: f"{text[:-1]},}}"),
    "single quotes": _written(lambda text: text.replace('"', "'")),
    "comment": _written(lambda text: f"{{ // done\n{text[1:]}"),
    "two values": _written(lambda text: f"{text}\n{text}"),
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
