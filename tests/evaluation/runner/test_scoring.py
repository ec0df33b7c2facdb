"""A suite is a folder; its runs are scored, compared and reworded."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from typer.testing import CliRunner

import evaluation.suites
from curation.download.cache import FetchSettings
from curation.system.errors import BadConfiguration, BadUsage, NoInput
from evaluation.analysis.run_report import tables_by_task
from evaluation.commands.options import choose_named_suite
from evaluation.commands.results import app
from evaluation.core.records import (
    Record,
    RecordRequest,
    Response,
    Verdict,
    encode_records,
)
from evaluation.runner import scoring
from evaluation.runner.records import make_records
from evaluation.runner.request import ModelOptions, RunRequest, choose_suite
from evaluation.runner.rewording import reworded_records
from evaluation.runner.run import score_file
from evaluation.runner.scoring import live_scorer, score_all
from evaluation.runner.scoring_worker import ScoringCase, start
from evaluation.suites.registry import suite_named, suites
from tests.distributions import lay_out_distribution
from tests.evaluation.known import known
from tests.evaluation.servers.loopback import Said, answer, loopback
from tests.evaluation.suites.envelopes import right_answers
from tests.slow_cases import first_fast
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from typer.testing import Result as Answer

    from evaluation.runner.request import SuiteChoice


_DOCS = Path(__file__).parents[3] / "docs" / "suites.md"


def doubling_source() -> str:
    """Return the Python of the example, as it is printed."""
    (found,) = re.findall(r"```python\n(.*?)```", _DOCS.read_text("utf-8"), re.DOTALL)
    return str(found)


def lay_out(folder: Path, name: str = "doubling") -> Path:
    """Write the suite into a folder of its own; return it."""
    suite = folder / name
    suite.mkdir()
    (suite / "suite.py").write_text(doubling_source(), "utf-8")
    return suite


_TROUBLE = """

def scorer(settings):
    import os, time

    from evaluation.core.records import Verdict

    def judge(response):
        if response.text == "hang":
            time.sleep(60)
        if response.text == "die":
            os.abort()
        if response.text == "raise":
            raise ValueError("no such thing")
        if response.text == "grow":
            return Verdict(passed=bool(bytearray(1 << 33)))
        return Verdict(passed=True)

    return lambda record: judge

"""


@pytest.fixture
def troubled(tmp_path: Path) -> SuiteChoice:
    """Return a suite whose scorer does what a response says."""
    folder = lay_out(tmp_path, f"troubled_{tmp_path.name}")
    source = (folder / "suite.py").read_text("utf-8")
    source = source.replace("\nSUITE = Suite(", f"{_TROUBLE}\nSUITE = Suite(")
    source = source.replace(
        "scorer=lambda settings: value_scorer(right)", "scorer=scorer"
    )
    (folder / "suite.py").write_text(source, "utf-8")
    chosen = choose_suite(str(folder))
    return replace(chosen, suite=replace(chosen.suite, scoring_seconds=0.5))


def test_every_response_has_a_verdict(troubled: SuiteChoice) -> None:
    """In order; those that go wrong have classes that every suite has."""
    record = Record(id="a")
    texts = ["x", "hang", "x", "die", "raise", "grow", "x"]
    pairs = [
        (record, Response(record="a", text=text, repeat=place))
        for place, text in enumerate(texts)
    ]
    verdicts = score_all(troubled, pairs, jobs=1)
    failed = ["scoring_failed"] * 3
    classes = [verdict.failure_class for verdict in verdicts]
    assert classes == ["", "scoring_timeout", "", *failed, ""]
    assert all(verdict.counted for verdict in verdicts)
    assert not any(verdict.passed for verdict in verdicts if verdict.failure_class)
    assert "SIGABRT" in verdicts[3].reasons[0]
    assert "ValueError: no such thing" in verdicts[4].reasons[0]


@pytest.mark.parametrize("name", first_fast(2, sorted(suites().keys() - {"coverage"})))
def test_what_an_engine_left_out_has_one_class_in_every_suite(name: str) -> None:
    """The schema that it refused is neither the server's failure nor the model's."""
    choice = choose_suite(name)
    record = next(iter(right_answers(name, 1))).record
    refused = Response(
        record=record.key, text=None, error="refused", finish="engine_error"
    )
    (verdict,) = score_all(choice, [(record, refused)], jobs=1)
    assert (verdict.passed, verdict.failure_class) == (False, "engine_error")


@pytest.mark.parametrize(
    ("text", "finish", "failure_class", "envelope"), table(__file__, "verdicts")
)
def test_a_worker_tells_the_engine_from_the_model(
    text: str, finish: str, failure_class: str, envelope: str | None
) -> None:
    """What passes needs no blame; where there is text its envelope is told."""
    handle = start({"suite": "passrate", "settings": {}, "fallback": False})
    response = Response(record="a", text=text, finish=finish)
    case = ScoringCase(record=Record(id="a", schema="{}"), response=response)
    verdict = handle(msgspec.to_builtins(case))
    assert verdict.failure_class == failure_class
    assert verdict.details.get("envelope") == envelope


@pytest.mark.slow
def test_a_live_scorer_goes_on_after_trouble(troubled: SuiteChoice) -> None:
    """A run whose answers are handed back does not end with one of them."""
    record = Record(id="a")
    with live_scorer(troubled) as score:
        found = [
            score(record, Response(record="a", text=text)).failure_class
            for text in ("hang", "x", "die", "x")
        ]
    assert found == ["scoring_timeout", "", "scoring_failed", ""]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Look for suites anew, and leave nothing behind for other tests."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    suites.cache_clear()
    yield
    suites.cache_clear()
    for name in [name for name in sys.modules if "doubling" in name.split(".")]:
        del sys.modules[name]


def _request(tmp_path: Path, spec: str, **fields: Any) -> RunRequest:  # noqa: ANN401 (fields of the request)
    return RunRequest(
        suite=choose_suite(spec),
        jobs=1,
        run_dir=tmp_path / "run",
        fetch=FetchSettings(cache=tmp_path / "cache"),
        **fields,
    )


def test_a_suite_in_a_folder_anywhere_is_scored_and_reported(tmp_path: Path) -> None:
    """No file of ours is edited: responses in a file become a run with its tables.

    A suite is short: what all suites have in common stands elsewhere.
    """
    assert len(re.findall(r"\S.*\n", doubling_source())) <= 60
    spec = str(lay_out(tmp_path))
    request = _request(tmp_path, spec, limit=4)
    lines = [
        {"record": "small/n0", "model": "mine", "text": '{"answer": 0}'},
        {"record": "n1", "model": "mine", "text": '<think>1</think>{"answer": 3}'},
        {"record": "n2", "model": "mine", "text": None, "error": "HTTP 500"},
    ]
    file = tmp_path / "responses.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    result = score_file(request, file)
    run = result.open()
    (tables,) = tables_by_task(run).values()
    first, rates, classes, _, by_schema = tables
    assert "generated by csbdata" in first.note
    assert (first.slug, by_schema.slug) == ("standings", "by-schema")
    assert [str(cell) for cell in rates.rows[-1]][:3] == ["all", "mine free", "3"]
    assert rates.rows[-1][3].count == 1  # type: ignore[union-attr] # a Rate
    classified = ("passed", "no_answer", "wrong_value")
    assert classes.columns == ("model", "responses", *classified)
    assert classes.rows == (("mine free", 3, 1, 1, 1),)
    assert result.problems == ("mine free has not answered 1 of 4 records",)


def test_a_folder_among_our_suites_is_found_because_it_stands_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registry lists it beside the others, by the name that it gives itself."""
    folder = lay_out(tmp_path)
    (folder / "__init__.py").write_text("", "utf-8")
    path = [*evaluation.suites.__path__, str(tmp_path)]
    monkeypatch.setattr(evaluation.suites, "__path__", path)
    assert {"doubling", "passrate"} <= set(suites())


def test_a_package_adds_a_suite_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed distribution that names one is enough."""
    lay_out_distribution(
        tmp_path,
        "their_doubling",
        doubling_source(),
        "csbdata.suites",
        "their_doubling:SUITE",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert suite_named("doubling").summary == "Can a model double a number?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>?</think>{}", ""),
        ("```json\n{}\n```", ""),
        ("{}.", "not_json"),
        (None, "no_answer"),
        ('{{"answer": 1}}', "wrong_value"),
    ],
)
def test_the_example_judges_by_the_right_value(
    text: str | None, expected: str, tmp_path: Path
) -> None:
    """Thinking and a fence around it are taken off."""
    chosen = known(_request(tmp_path, str(lay_out(tmp_path))).suite)
    record = next(iter(known(chosen.suite.generate)(1, 4, chosen.settings)))
    answer = text and text.format('{"answer": 8}')
    judge = chosen.suite.scorer(chosen.settings)(record)
    verdict = judge(Response(record=record.key, text=answer))
    assert (verdict.failure_class, verdict.passed) == (expected, not expected)


def test_records_of_a_file_are_read_for_every_suite(tmp_path: Path) -> None:
    """What `generate` writes, `--data` reads, and a limit draws from it."""
    request = _request(tmp_path, str(lay_out(tmp_path)))
    chosen = known(request.suite)
    made = known(chosen.suite.generate)(20, 3, chosen.settings)
    file = tmp_path / "made.jsonl"
    file.write_bytes(encode_records(made))
    wanted = RecordRequest(data=str(file), fetch=request.fetch, limit=7)
    found = make_records(chosen, wanted)
    assert (found.origin, len(found.records)) == ("file", 7)
    with pytest.raises(BadUsage, match="doubling reads no --data"):
        make_records(chosen, replace(wanted, data=str(tmp_path)))


@pytest.mark.parametrize(
    ("values", "compat", "said"),
    [
        ({"largst": 3}, "", "largest"),
        ({"largest": "many"}, "", "int"),
        ({}, "paper", "one reading only"),
        ({}, "other", "there is only paper"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    tmp_path: Path, values: dict[str, str], compat: str, said: str
) -> None:
    """The message names the setting that was meant, or what is wrong with the value."""
    spec = str(lay_out(tmp_path))
    with pytest.raises(BadConfiguration, match=said):
        choose_suite(spec, {**values}, compat)


def test_a_folder_may_have_an_at_sign_in_its_path(tmp_path: Path) -> None:
    """What stands behind it is a reading only if it is no path."""
    (tmp_path / "me@home").mkdir()
    spec = str(lay_out(tmp_path / "me@home"))
    chosen = choose_named_suite(spec, {"largest": "3"})
    assert chosen.suite.name == "doubling"
    assert msgspec.to_builtins(chosen.settings)["largest"] == 3
    with pytest.raises(BadConfiguration, match="one reading only"):
        choose_named_suite(f"{spec}@paper", {})


@pytest.mark.parametrize(
    ("name", "source", "said"),
    [
        ("json", doubling_source(), r"cannot be imported .*'json\.suite'.*no other"),
        ("my.doubling", doubling_source(), "cannot be imported .*no dot"),
        ("broken_doubling", "import not_here", "cannot be imported .*'not_here'"),
        ("short_doubling", "SUITE = (", r"cannot be imported .*suite\.py, line 1"),
        ("other_doubling", "SUITE = 5", "holds no SUITE"),
    ],
)
def test_a_folder_whose_suite_cannot_be_had_says_why(
    tmp_path: Path, name: str, source: str, said: str
) -> None:
    """It is no defect of ours; a name of another package's is told as such."""
    with pytest.raises(NoInput, match=r"no suite\.py in it"):
        suite_named(str(tmp_path / name))
    (tmp_path / name).mkdir()
    (tmp_path / name / "suite.py").write_text(source, "utf-8")
    with pytest.raises(BadConfiguration, match=said):
        suite_named(str(tmp_path / name))


_SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}}'
_COUNT = 12


def _scored(folder: Path, texts: dict[str, str]) -> Path:
    """Score a file of twelve answers of each model; `1` is right, `0` is wrong."""
    folder.mkdir()
    records = [
        Record(id=f"r{number}", group="g", schema=_SCHEMA) for number in range(_COUNT)
    ]
    (folder / "made.jsonl").write_bytes(encode_records(records))
    lines = [
        json.dumps(
            {
                "record": f"g/r{number}",
                "model": model,
                "text": '{"n": 1}' if flag == "1" else '{"n": "1"}',
            }
        )
        for model, flags in texts.items()
        for number, flag in enumerate(flags)
    ]
    (folder / "answers.jsonl").write_text("\n".join(lines))
    request = _request(folder, "passrate", data=folder / "made.jsonl")
    return score_file(request, folder / "answers.jsonl").folder


@pytest.fixture(scope="module")
def better(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which `small` has every answer right, and `large` half of them."""
    texts = {"small": "1" * _COUNT, "large": "10" * (_COUNT // 2)}
    return _scored(tmp_path_factory.mktemp("runs") / "better", texts)


@pytest.fixture(scope="module")
def worse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which `small` has a quarter of its answers wrong."""
    texts = {"small": "1110" * (_COUNT // 4), "large": "10" * (_COUNT // 2)}
    return _scored(tmp_path_factory.mktemp("runs") / "worse", texts)


def _ask(*words: str) -> Answer:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def test_a_run_that_is_worse_is_a_failure(better: Path, worse: Path) -> None:
    """Three of 24 answers are lost; held against what was worse, none is."""
    answer = _ask("compare", str(worse), str(better), "--fail-on", "worse")
    assert answer.exit_code == 1
    assert "3 worse" in answer.stderr
    words = ("compare", str(better), str(worse), "--fail-on", "worse")
    assert _ask(*words).exit_code == 0


def test_failures_are_listed_with_their_reason(worse: Path) -> None:
    """How many there are, what is wrong, and which record shows it."""
    answer = _ask("show", str(worse), "--failures", "--engine", "small free")
    assert answer.exit_code == 0
    assert "3 of 3" in answer.stdout
    assert 'n: "1" is not of type "integer"' in answer.stdout
    assert any(f"g/r{number}" in answer.stdout for number in (3, 7, 11))


def test_failures_name_no_command_that_nobody_typed(worse: Path) -> None:
    """A program scored the file: what it was called with is no way to see it again."""
    answer = _ask("show", str(worse), "--failures", "--format", "json")
    (table,) = json.loads(answer.stdout)["tables"]
    assert {failure["to see it again"] for failure in table["rows"]} == {""}


def _reworded(
    folder: Path, count: int, reply: Callable[[str, list[str]], Said]
) -> tuple[list[Record], Sequence[Record], list[str]]:
    """Return requests, what a server made of them, and what was said.

    What it replies is told from a request's text and the texts of all.
    """
    chosen = choose_suite("ifstruct")
    records = list(known(chosen.suite.generate)(count, 5, chosen.settings))
    texts = [str(record.fields["prompt"]) for record in records]
    said: list[str] = []

    def answered(body: dict[str, Any], _number: int) -> Said:
        asked = body["messages"][-1]["content"]
        return reply(asked.partition("new request.\n\n")[2], texts)

    with loopback(answered) as server:
        model = ModelOptions(model=f"{server.base}#small")
        fetch = FetchSettings(cache=folder)
        changed = reworded_records(chosen, records, model, fetch, said.append)
    assert server.most <= 8
    return records, changed, said


def test_a_text_that_loses_nothing_takes_the_place_of_ours(tmp_path: Path) -> None:
    """One that lost a requirement, or is cut, does not."""

    def reply(text: str, texts: list[str]) -> Said:
        if text == texts[1]:
            return answer("Give me some JSON.")
        finish = "length" if text == texts[2] else "stop"
        return answer(f"<think>Hm.</think>Good morning! {text}", finish=finish)

    records, changed, said = _reworded(tmp_path, 3, reply)
    assert changed[0].fields["prompt"] == f"Good morning! {records[0].fields['prompt']}"
    assert changed[0].fields["voice"] == "model"
    assert changed[1:] == records[1:]
    assert said[-1].startswith("1 of 3 requests reworded")
    assert json.loads(changed[0].schema or "null") == json.loads(
        records[0].schema or "null"
    )


def test_a_server_is_asked_for_eight_texts_at_once(tmp_path: Path) -> None:
    """Each comes to its own record, however many there are."""

    def reply(text: str, _texts: list[str]) -> Said:
        return Said(pieces=[0.02, *answer(f"Good morning! {text}").pieces])

    records, changed, _ = _reworded(tmp_path, 40, reply)
    assert [record.fields["prompt"] for record in changed] == [
        f"Good morning! {record.fields['prompt']}" for record in records
    ]


def test_an_answer_is_known_by_its_mark_or_else_by_its_text() -> None:
    """A file of another text has another row."""
    record, verdict = Record(id="a", schema="{}"), Verdict(passed=True)
    given = [
        Response(record="a", text="x", repeat=number, fingerprint=mark)
        for number, mark in enumerate(("", "f"))
    ]
    pairs = [(record, response) for response in given]
    found = scoring._scored(pairs, [verdict] * 2)
    assert [mark for _, mark in found] == [["x"], ["f"]]


def test_a_suite_without_a_rewriter_is_named(tmp_path: Path) -> None:
    """Only IFStruct checks reworded requests."""
    fetch = FetchSettings(cache=tmp_path)
    with pytest.raises(BadConfiguration, match="passrate has no rewriter"):
        reworded_records(choose_suite("passrate"), [], ModelOptions(), fetch, print)
