"""Answers to schemas of suite coverage."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from evaluation.core.cases import Result
from evaluation.generation.text_generation import Generation, TextEnding
from evaluation.suites.coverage.scorer import (
    CLASS_OF_ENDING,
    CLASS_OF_RESULT,
    TextClass,
    accepts_by_listing_10,
)
from tests.evaluation.suites.known_answers import KnownAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json
    from evaluation.core.records import Record


def known_answers(record: Record, settings: object) -> Iterable[KnownAnswer]:
    """Yield answers to a record with the class that each must get.

    A witness is one of the record's own dialect: where all are read as 2020-12, as the
    paper does, Listing 10 shows which of them violate their schema there.
    """
    kinds = TextClass
    as_paper = getattr(settings, "dialect", "") == "2020-12"
    witnesses = record.fields.get("witnesses")
    for text in witnesses if isinstance(witnesses, list) else ():
        right = not as_paper or accepts_by_listing_10(str(text), record.constraint)
        expected = "" if right else kinds.VIOLATES
        yield KnownAnswer(kind="witness", text=str(text), expected=expected)
        for kind, cut in (
            (kinds.TRUNCATED, f"{text}{{"),
            (kinds.RUNAWAY_WHITESPACE, f"{text}{{{' ' * 99}"),
        ):
            yield KnownAnswer(kind=kind, text=cut, finish="length", expected=kind)
        yield _known(kinds.NOT_JSON, f"Here: {text}")
    root = json.loads(record.constraint)
    if isinstance(root, dict) and isinstance(root.get("type"), str):
        yield _known(kinds.VIOLATES, "[]" if root["type"] == "object" else "{}")
    thought = KnownAnswer(kind="thought", text="", reasoning="Well.")
    yield replace(thought, expected=kinds.REASONING_ONLY)
    yield replace(
        thought,
        expected=kinds.THINK_TEXT,
        writing=_writing(Result.OK, TextEnding.END, tagged=True),
    )
    yield KnownAnswer(
        kind="no answer", text=None, error="HTTP 500", expected=kinds.MODEL_ERROR
    )
    for ending, kind in CLASS_OF_ENDING.items():
        yield replace(_known(kind, ""), writing=_writing(Result.OK, ending))
    for result, kind in CLASS_OF_RESULT.items():
        writing = _writing(result, TextEnding.ENGINE, compile_ns=1)
        yield replace(_known(kind, ""), writing=writing)
    late = _writing(Result.TIMEOUT, TextEnding.ENGINE)
    yield replace(_known(kinds.COMPILE_TIMEOUT, ""), writing=late)


def _known(expected: TextClass, text: str) -> KnownAnswer:
    return KnownAnswer(kind=expected, text=text, expected=expected)


def _writing(
    result: Result,
    ending: TextEnding,
    *,
    tagged: bool = False,
    compile_ns: int | None = None,
) -> dict[str, Json]:
    generation = Generation(
        id="", result=result, ending=ending, tagged=tagged, compile_ns=compile_ns
    )
    return generation.as_json()
