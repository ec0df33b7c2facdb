"""Every suite: known answers for each class, each scored in few files of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
import pytest

import evaluation
from evaluation.answers.json_answers import compiled_schema
from evaluation.asking import self_test
from evaluation.asking.request import choose_suite
from evaluation.core.records import Record
from evaluation.suites.registry import suites
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from evaluation.core.records import Response
    from evaluation.core.suite import KnownAnswer

_Result = TypeVar("_Result")
_ROOT: Final = f"{Path(evaluation.__file__).parent.parent}/"
_OURS: Final = (f"{_ROOT}curation/", f"{_ROOT}evaluation/")
#: Classes without a known answer: faults of a record, not of an answer, and texts too
#: long to be made for every record. Other tests hold them.
_UNTESTED: Final = {
    "passrate": {"schema_error"},
    "concodeeval": {"schema_error", "too_large"},
    # No form of the sample has a leaf of two types.
    "sob": {"unusable_schema", "type"},
    # Two of them are of the published reading alone.
    "ifstruct": {"too_large", "byte_order_mark", "leading_text"},
}
#: Coverage asks two validators, and names the keyword that fails as near misses do, in
#: three files more; it shares with `judge` what an answer is that says next to nothing.
_MOST_FILES: Final = {("coverage", ""): 8, ("coverage", "violates"): 11}
#: Records of a suite without a generator: an object, with a branch and a pattern.
_SCHEMA: Final = {
    "type": "object",
    "properties": {"size": {"type": "integer"}, "at": {"$ref": "#/$defs/at"}},
    "required": ["size"],
    "$defs": {
        "at": {
            "anyOf": [
                {"type": "object", "patternProperties": {"^x": {"type": "number"}}},
                {"type": "null"},
            ]
        }
    },
}
_PLAIN: Final = {"type": "object", "properties": {"a": {"type": "null"}}}
_SUITES: Final = pytest.mark.parametrize("name", list(suites()))


@cache
def _known(name: str) -> list[tuple[Record, KnownAnswer, Response]]:
    choice = choose_suite(name)
    records = [
        Record(
            id=str(place),
            schema=json.dumps(schema),
            fields={"witnesses": ['{"size": 1, "at": {"x1": 2}}']},
        )
        for place, schema in enumerate((_SCHEMA, _PLAIN))
    ]
    if choice.suite.generate is not None:
        generated = choice.suite.generate(72, 0, choice.settings)
        records = list(islice(generated, 0, 540, 3))[:180]
    return self_test.known_pairs(choice, records)


@_SUITES
def test_every_class_has_a_known_answer_that_gets_it(name: str) -> None:
    """The self-test of a suite notices if its scorer gives one class no more."""
    choice = choose_suite(name)
    expected = {answer.expected for _, answer, _ in _known(name)}
    classes = set(choice.suite.classes) | {""}
    assert classes - expected == _UNTESTED.get(name, set())
    score = choice.suite.scorer(choice.settings)
    judges = {record.key: score(record) for record, _, _ in _known(name)}
    tested = [
        self_test.TestedAnswer(
            record=record, answer=answer, verdict=judges[record.key](response)
        )
        for record, answer, response in _known(name)
    ]
    assert [answer for answer in tested if not answer.as_expected] == []


@_SUITES
def test_an_answer_is_scored_in_seven_files(name: str) -> None:
    """So many a reader opens to follow one; preparing a record takes one more."""
    choice = choose_suite(name)
    score = choice.suite.scorer(choice.settings)
    last_of_class = {pair[1].expected: pair for pair in _known(name)}
    for record, answer, response in last_of_class.values():
        compiled_schema.cache_clear()
        judge, prepared = _traced(partial(score, record))
        _, scored = _traced(partial(judge, response))
        assert 0 < len(prepared) <= 7, (record.key, prepared)
        most = _MOST_FILES.get((name, answer.expected), 7)
        assert 0 < len(scored) <= most, (record.key, answer, scored)


def _traced(call: Callable[[], _Result]) -> tuple[_Result, set[str]]:
    """Return the result of a call, and the files of ours whose functions it runs."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(_OURS):
            files.add(path.removeprefix(_ROOT))

    sys.setprofile(note)
    try:
        result = call()
    finally:
        sys.setprofile(None)
    return result, files


_SCORE_ONE: Final = """
import sys
import msgspec
from evaluation.asking.scoring_worker import start
handle = start({"suite": sys.argv[1], "settings": {}})
handle(msgspec.json.decode(sys.stdin.buffer.read()))
packages = [name.partition(".")[0] for name in sys.modules]
print(packages.count("curation") + packages.count("evaluation"))
"""


@pytest.mark.parametrize("name", first_fast(1, suites()))
def test_a_worker_loads_few_modules_to_score_one_answer(name: str) -> None:
    """At most 120 of ours, in a fresh process."""
    record, _, response = _known(name)[0]
    case = msgspec.json.encode({"record": record, "response": response})
    done = subprocess.run(
        [sys.executable, "-c", _SCORE_ONE, name],
        input=case,
        capture_output=True,
        check=True,
    )
    assert int(done.stdout) <= 120
