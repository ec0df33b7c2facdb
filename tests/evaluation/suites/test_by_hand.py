"""Answers written by hand, with the verdicts of a fair reader and as published."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from evaluation.core.records import Record, Response
from evaluation.runner.request import choose_suite
from evaluation.suites.concodeeval.suite import RecordFields
from evaluation.suites.quality.suite import Problem, as_records
from evaluation.suites.sob.records import SobRecord, suite_record

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER: Final = Path(__file__).with_name("by_hand")
_SUITES: Final = ("sob", "passrate", "quality", "ifstruct", "concodeeval")
#: The column of `envelopes.txt` by suite and record.
_COLUMNS: Final = {
    "sob": 0,
    "passrate": 1,
    "quality": 2,
    "ban": 3,
    "talk": 4,
    "concodeeval": 5,
}
_ITEM: Final = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1, "maximum": 5},
        "t": {"type": "string"},
        "c": {"type": "string", "enum": ["a", "b"]},
        "sub": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {"n": {"type": "number"}},
                "required": ["n"],
            },
        },
    },
    "required": ["id", "t"],
}


def _lines(name: str) -> list[str]:
    text = (_FOLDER / f"{name}.txt").read_text("utf-8")
    return [line for line in text.split("\n") if line and line[0] != "#"]


def _text(shown: str) -> str:
    shown = shown.replace("⏎", "\n")
    return re.sub("⟦([0-9A-F]+)⟧", lambda found: chr(int(found[1], 16)), shown)


def _sob(name: str, rest: str) -> Record:
    source, _, rest = rest.partition(" ")
    truth, end = json.JSONDecoder().raw_decode(rest)
    record = SobRecord(
        record_id=name,
        source=source,  # type: ignore[arg-type]  # one of the three
        context="c",
        question="q",
        json_schema=json.loads(rest[end:]),
        ground_truth=truth,
        schema_complexity="medium",
    )
    return suite_record(record)


def _quality(name: str, rest: str) -> Record:
    task, answer = rest.split()
    problem = Problem(question="q", reasoning="", answer=answer)
    return msgspec.structs.replace(next(as_records(task, [problem])), id=name)


def _ifstruct(name: str, rest: str) -> Record:
    format_, count, key, fence, commentary = rest.split()
    least, _, most = count.partition("-")
    fields: dict[str, Any] = {
        "seed": 0,
        "entity_type": "thing",
        "prompt": "p",
        "json_schema": {"type": "array", "items": _ITEM},
        "top_level_count": [int(least), int(most or least)],
        "top_level_key": None if key == "-" else key,
        "require_wrapper_key": key != "-",
        "require_code_block": fence == "required",
        "require_no_commentary": commentary == "banned",
        "output_format": format_,
    }
    return Record(id=name, fields=fields)


def _concodeeval(name: str, rest: str) -> Record:
    output, _, schema = rest.partition(" ")
    fields = RecordFields(
        task="generation",
        representation="json",
        output=output,  # type: ignore[arg-type]  # one of the three
        family="f",
        schema_id=name,
        schema=schema,
        length=len(schema.split()),
    )
    return fields.record(name, "2020-12")


def _record(suite: str, name: str, rest: str) -> Record:
    if suite == "passrate":
        return Record(id=name, schema=rest)
    makers = {
        "sob": _sob,
        "quality": _quality,
        "ifstruct": _ifstruct,
        "concodeeval": _concodeeval,
    }
    return makers[suite](name, rest)


def answers(suite: str) -> Iterator[tuple[Record, str, str]]:
    """Yield each record, text and pair of verdicts of one suite."""
    records: dict[str, Record] = {}
    envelopes = [line.split(" ", 6) for line in _lines("envelopes")]
    for line in _lines(suite):
        if line == "task 2":
            return
        mark, _, rest = line.partition(" ")
        if mark == "=":
            name, _, rest = rest.partition(" ")
            records[name] = _record(suite, name, rest)
            continue
        if mark != "*":
            name, _, text = rest.partition(" ")
            yield records[name], _text(text), mark
            continue
        pair, name, body = rest.split(" ", 2)
        column = _COLUMNS.get(name, _COLUMNS.get(suite, 0))
        for *verdicts, around in envelopes:
            kept = (
                verdicts[column][it] if right == "y" else "n"
                for it, right in enumerate(pair)
            )
            yield records[name], _text(around.replace("@@", body)), "".join(kept)


def replies() -> Iterator[tuple[str, str]]:
    """Yield each reply of ConCodeEval's second task with its pair of verdicts."""
    lines = _lines("concodeeval")
    for line in lines[lines.index("task 2") + 1 :]:
        yield _text(line[3:]), line[:2]


@pytest.mark.parametrize("reading", ["", "paper"])
@pytest.mark.parametrize("suite", _SUITES)
def test_every_answer_gets_the_verdict_of_its_reader(suite: str, reading: str) -> None:
    """By default that of a fair reader, under `@paper` that of the published code."""
    choice = choose_suite(suite, {}, reading)
    score = choice.suite.scorer(choice.settings)
    place = bool(reading)
    wrong, tried = [], 0
    for record, text, pair in answers(suite):
        tried += 1
        verdict = score(record)(Response(record=record.key, text=text))
        passed = verdict.passed
        if suite == "sob" and reading:
            passed = verdict.scores["value_accuracy"] == 1
        if pair[place] != "-" and passed is not (pair[place] == "y"):
            wrong.append((record.id, text, pair, verdict.failure_class))
    assert wrong == []
    if suite != "concodeeval":
        assert tried >= 300


@pytest.mark.parametrize("reading", ["", "paper"])
def test_a_verdict_in_prose_is_read_as_people_do(reading: str) -> None:
    """What is unclear is unclear, a determiner is no verdict, the last one counts."""
    fields = RecordFields(
        task="validation",
        representation="json",
        output="json",
        family="f",
        schema_id="s",
        schema="{}",
        length=1,
        sample="1",
        label="yes",
    )
    choice = choose_suite("concodeeval", {}, reading)
    judge = choice.suite.scorer(choice.settings)(fields.record("s", "2020-12"))
    wrong = []
    for text, pair in replies():
        verdict = judge(Response(record="s", text=text))
        reply = {"yes": "y", "no": "n"}.get(str(verdict.details["reply"]), "u")
        if reply != pair[bool(reading)]:
            wrong.append((text, pair, reply))
    assert wrong == []
    assert Counter(pair[0] for _, pair in replies()).total() > 150
