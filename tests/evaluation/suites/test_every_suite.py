"""Every suite: known, right and fuzzed answers, each scored as it must be."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
import pytest

import evaluation
from evaluation.answers.judge import compiled_schema
from evaluation.core.records import Record, Response
from evaluation.runner.request import choose_suite
from evaluation.suites.concodeeval.suite import read_fields
from evaluation.suites.ifstruct.rows import read_record
from evaluation.suites.registry import suites
from evaluation.suites.sob.records import sob_record
from tests.evaluation.suites import default_readers
from tests.evaluation.suites import second_readers as published
from tests.evaluation.suites.envelopes import (
    ENVELOPES,
    Kind,
    RightAnswer,
    own_records,
    right_answers,
)
from tests.evaluation.suites.known_answers import KnownAnswer, known_answers, unexpected
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from curation.core.json_types import Json
    from evaluation.core.records import Verdict
    from evaluation.suites.ifstruct.rows import IfstructRecord


_Result = TypeVar("_Result")
_ROOT: Final = f"{Path(evaluation.__file__).parent.parent}/"
_OURS: Final = (f"{_ROOT}curation/", f"{_ROOT}evaluation/")
#: Classes without a known answer: faults of a record, not of an answer, and texts too
#: long to be made for every record. Other tests hold them.
_UNTESTED: Final = {
    "passrate": {"schema_error"},
    "concodeeval": {"schema_error", "too_large"},
    "sob": {"unusable_schema"},
    # Others are of the published reading alone, or of numbers that rows rarely want.
    "ifstruct": {"too_large", "leading_text", "loose_end", "not_a_number"},
}
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
def _known(name: str) -> list[tuple[Record, KnownAnswer]]:
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
    elif choice.suite.published:
        records = own_records(choice, 60, 0)
    return [
        (record, known) for record in records for known in known_answers(choice, record)
    ]


@_SUITES
def test_every_class_has_a_known_answer_that_gets_it(name: str) -> None:
    """Of every suite; what is not tried here other tests hold."""
    choice = choose_suite(name)
    expected = {known.expected for _, known in _known(name)}
    classes = set(choice.suite.classes) | {""}
    assert classes - expected == _UNTESTED.get(name, set())
    assert unexpected(choice, _known(name)) == []
    if name == "sob":  # both readings agree on them
        assert unexpected(choose_suite(name, {}, "paper"), _known(name)) == []


@pytest.mark.slow
@_SUITES
def test_an_answer_is_scored_in_few_files(name: str) -> None:
    """Four at most for a reader to follow one, and eight to prepare a record."""
    choice = choose_suite(name)
    score = choice.suite.scorer(choice.settings)
    last_of_class = {pair[1].expected: pair for pair in _known(name)}
    for record, answer in last_of_class.values():
        compiled_schema.cache_clear()
        judge, prepared = _traced(partial(score, record))
        _, scored = _traced(partial(judge, answer.response(record)))
        assert 0 < len(prepared) <= 8, (record.key, prepared)
        assert 0 < len(scored) <= 4, sorted(scored)


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
from evaluation.runner.scoring_worker import start
handle = start({"suite": sys.argv[1], "settings": {}, "fallback": False})
handle(msgspec.json.decode(sys.stdin.buffer.read()))
packages = [name.partition(".")[0] for name in sys.modules]
print(packages.count("curation") + packages.count("evaluation"))
"""


@pytest.mark.parametrize("name", first_fast(1, suites()))
def test_a_worker_loads_few_modules_to_score_one_answer(name: str) -> None:
    """At most 120 of ours, in a fresh process."""
    record, known = _known(name)[0]
    case = {"record": record, "response": known.response(record)}
    done = subprocess.run(
        [sys.executable, "-c", _SCORE_ONE, name],
        input=msgspec.json.encode(case),
        capture_output=True,
        check=True,
    )
    assert int(done.stdout) <= 120


_ARTICLE: Final = re.compile(r"^(?:the|a|an) ", re.IGNORECASE)


def _terse(answer: RightAnswer) -> str:
    """Write no white space, and no code block but one that is required."""
    text, content = answer.text, answer.content
    try:
        short = json.dumps(json.loads(content), separators=(",", ":"))
    except ValueError:
        return text
    return text.replace(content, short)


def _without_articles(answer: RightAnswer) -> str:
    """Drop the article of each text that is not said to be copied."""
    content = answer.content
    try:
        value = json.loads(content)
    except ValueError:
        return answer.text
    short = _shortened(value, json.loads(answer.record.schema or "true"))
    return answer.text.replace(content, json.dumps(short, ensure_ascii=False))


def _shortened(value: Json, schema: Any) -> Json:  # noqa: ANN401 (any schema)
    schema = schema if isinstance(schema, dict) else {}
    if isinstance(value, dict):
        inner = schema.get("properties", {})
        return {
            name: _shortened(member, inner.get(name)) for name, member in value.items()
        }
    if isinstance(value, list):
        return [_shortened(item, schema.get("items")) for item in value]
    is_copied = "quotation marks" in str(schema.get("description")) or "enum" in schema
    if isinstance(value, str) and not is_copied and len(value.split()) > 1:
        return _ARTICLE.sub("", value)
    return value


@pytest.mark.parametrize("write", [_terse, _without_articles])
@pytest.mark.parametrize("suite", list(suites()))
def test_a_right_answerer_gets_everything_right(
    suite: str, write: Callable[[RightAnswer], str]
) -> None:
    """No prompt grants what its scorer punishes, and no truth wants what none said."""
    answers = right_answers(suite, 40)
    assert answers
    for answer in answers:
        text = write(answer)
        verdict = answer.verdict(text)
        assert verdict.passed, (answer.record.key, text, verdict.reasons)


@pytest.mark.parametrize("suite", first_fast(3, suites()))
def test_right_answers_pass_in_every_envelope_that_is_allowed(suite: str) -> None:
    """A block and words around count where they are forbidden, other things never."""
    wrong: Counter[tuple[str, bool, str]] = Counter()
    tried: Counter[Kind] = Counter()
    for answer in right_answers(suite, 20):
        for envelope in ENVELOPES:
            for text, right in answer.written(envelope):
                verdict = answer.verdict(text)
                tried[envelope.kind] += 1
                if verdict.passed is not right:
                    wrong[envelope.name, right, verdict.failure_class] += 1
    assert wrong == {}
    assert min(tried[kind] for kind in Kind) > 0


#: Pieces that break readers.
_PIECES: Final = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-0", "1.0", "0.5", "true", "null"),
    *('"\\ud800"', "\ud800", "\x00", "\ufeff", "\r", "\u2028", "\x85", "\x1c", "\\"),
    *("[" * 300, "{" * 20, "]" * 300, "9" * 5_000, "```", "```json\n", "\n```\n"),
    *("<think>", "</think>", "[THINK]", "<|end|>", "</s>", "assistantfinal"),
    *("- ", ": ", "&a ", "*a", "!!set ", "? ", "<<: ", "#", "\t", ",", '"', "{}", "[]"),
)


def _broken(text: str, draw: Random) -> str:
    """Return a text with one to three small faults, or in an envelope."""
    if draw.random() < 0.3:
        text = draw.choice(ENVELOPES).around(text, draw.choice(("json", "yaml", "")))
    for _ in range(draw.randint(0, 3)):
        place, end = sorted(draw.randint(0, len(text)) for _ in range(2))
        match draw.randrange(4):
            case 0:
                text = text[:place] + draw.choice(_PIECES) + text[place:]
            case 1:
                text = text[:place] + draw.choice(_PIECES) + text[place + 1 :]
            case 2:
                text = text[:place] + text[min(end, place + 5) :]
            case _:
                text = _other_value(text, draw)
    return text


def _other_value(text: str, draw: Random) -> str:
    """Return JSON with one leaf replaced, where it is any."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    places: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        inner = stack.pop()
        if not isinstance(inner, dict | list):
            continue
        items = inner.items() if isinstance(inner, dict) else enumerate(inner)
        for key, member in items:
            places.append((inner, key))
            stack.append(member)
    if places:
        holder, key = draw.choice(places)
        other: tuple[Any, ...] = (None, True, 1, 1.0, "1", float("nan"), [], {"a.b": 1})
        holder[key] = draw.choice(
            (*other, float("inf"), [float("nan"), {"": "x"}], "a")
        )
    return json.dumps(value)


def _fuzzed(suite: str, count: int) -> Iterator[tuple[Record, str]]:
    answers = right_answers(suite, 40)
    for seed in range(count):
        draw = Random(f"{suite} {seed}")
        answer = answers[seed % len(answers)]
        yield answer.record, _broken(draw.choice((answer.text, answer.content)), draw)


@pytest.mark.parametrize("reading", ["", "@paper"])
@pytest.mark.parametrize("suite", list(suites()))
@pytest.mark.parametrize("count", [50, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_a_scorer_never_raises(suite: str, reading: str, count: int) -> None:
    """Whatever a model wrote gets a verdict with a class of the suite, or passes."""
    if reading and choose_suite(suite, {}).suite.paper is None:
        pytest.skip("it has one reading")
    choice = choose_suite(suite, {}, "paper" if reading else "")
    score = choice.suite.scorer(choice.settings)
    judges: dict[str, Any] = {}
    for record, text in _fuzzed(suite, count):
        judge = judges.setdefault(record.key, score(record))
        verdict = judge(Response(record=record.key, text=text))
        assert verdict.failure_class in {"", *choice.suite.classes}, text
        assert verdict.passed == (verdict.failure_class == ""), text


#: Why a second reader decides otherwise: at most so many of a thousand answers.
_KNOWN: Final[dict[tuple[str, str], int]] = {
    # Half of a surrogate pair, and numbers that are none, are no JSON (RFC 8259).
    ("passrate", "passes True, syntax_error lone_surrogate"): 20,
    ("passrate", "passes True, syntax_error not_a_number"): 20,
    # A carriage return alone is no end of the line with a block's language.
    ("concodeeval", "passes False,"): 1,
    # What is inside of a broken value does not count.
    ("quality", "by default passes True, syntax_error"): 1,
    ("quality", "by default, tags in words"): 1,
    ("sob", "by default passes True, parse"): 1,
    ("sob", "by default, tags in words"): 1,
    # "no" before a number, and a tag inside of a block's first line.
    ("concodeeval", "by default, tags in words"): 1,
    ("concodeeval", "by default passes True, unclear"): 1,
    ("concodeeval", "by default passes False,"): 1,
}


@pytest.mark.parametrize("reading", ["", "paper"])
@pytest.mark.parametrize(
    "count", [100, pytest.param(40_000, marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize(
    "suite", ["ifstruct", "sob", "passrate", "quality", "concodeeval"]
)
def test_a_second_reader_decides_alike(suite: str, count: int, reading: str) -> None:
    """Written apart, of each reading: but for the reasons listed."""
    choice = choose_suite(suite, {}, reading)
    score = choice.suite.scorer(choice.settings)
    judges: dict[str, Any] = {}
    apart: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    raised = 0
    for record, text in _fuzzed(suite, count):
        judge = judges.setdefault(record.key, score(record))
        verdict = judge(Response(record=record.key, text=text))
        why = _apart(suite, reading, record, text, verdict)
        if why is None:
            raised += 1
        elif why:
            apart[suite, why] += 1
            first.setdefault((suite, why), text)
    over = {
        key: n
        for key, n in apart.items()
        if n > max(key in _KNOWN, count * _KNOWN.get(key, 0) / 1_000)
    }
    assert over == {}, {key: first[key] for key in over}
    by_standard = {key for key, most in _KNOWN.items() if most > 1}
    others = sum(n for key, n in apart.items() if key not in by_standard)
    assert others <= max(2, count / 1_000), apart
    assert raised < count / (2 if suite == "concodeeval" else 20)


def _wanted(record: Record) -> IfstructRecord:
    return read_record(record.fields)


def _truth(record: Record) -> tuple[Json, Json]:
    sob = sob_record(record)
    return sob.ground_truth, sob.json_schema


#: Whether a text passes by the reader of a suite's published reading.
_PUBLISHED: Final[dict[str, Callable[[str, Record], bool | None]]] = {
    "ifstruct": lambda text, it: published.ifstruct_passes(text, _wanted(it)),
    "passrate": lambda text, it: published.passrate_passes(
        text, json.loads(it.constraint)
    ),
    "quality": lambda text, it: published.quality_passes(
        text, it.group, str(it.fields["answer"])
    ),
    "concodeeval": lambda text, it: published.concodeeval_passes(text, read_fields(it)),
}
#: The same of its default reading.
_DEFAULT: Final[dict[str, Callable[[str, Record], bool | None]]] = {
    "sob": lambda text, it: default_readers.sob_passes(text, *_truth(it)),
    "ifstruct": lambda text, it: default_readers.ifstruct_passes(text, _wanted(it)),
    "passrate": lambda text, it: default_readers.passrate_passes(
        text, json.loads(it.constraint)
    ),
    "quality": lambda text, it: default_readers.quality_passes(
        text, it.group, str(it.fields["answer"])
    ),
    "concodeeval": lambda text, it: default_readers.concodeeval_passes(
        text, read_fields(it)
    ),
}


def _apart(
    suite: str, reading: str, record: Record, text: str, verdict: Verdict
) -> str | None:
    """Return in a word what differs; empty for nothing, None if theirs would raise."""
    if suite == "sob" and reading:
        source = sob_record(record).source
        theirs = published.sob_metrics(text, *_truth(record), source)
        if theirs is None:
            return None
        scores = verdict.scores
        off = [name for name, it in theirs.items() if abs(it - scores[name]) > 1e-9]
        return " ".join(off)
    passes = (_PUBLISHED if reading else _DEFAULT)[suite](text, record)
    if passes is None or passes is verdict.passed:
        return None if passes is None else ""
    if reading:
        problem = verdict.details.get("problem", "")
        return f"passes {passes}, {verdict.failure_class} {problem}".strip()
    # The pages say nothing of tags that are broken, or named in words.
    if re.search(r"think|thought|reasoning>|assistant", text, re.IGNORECASE):
        return "by default, tags in words"
    return f"by default passes {passes}, {verdict.failure_class}".strip()
