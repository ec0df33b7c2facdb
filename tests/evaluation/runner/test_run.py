"""`csbdata.run`: a task or a suite, every answer once, whatever happens."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import csbdata
from curation.download.cache import FetchSettings
from curation.system.errors import BadUsage, CannotCreate, Unavailable
from curation.system.terminal import set_command_line
from evaluation.analysis.run_report import tables_by_task
from evaluation.commands.options import RunSettings, split_settings
from evaluation.core.cases import Bounds, Case, Result, Row
from evaluation.core.records import (
    Record,
    RecordSelection,
    RecordSet,
    Response,
    TokenPrices,
    Verdict,
    encode_records,
)
from evaluation.core.run_header import DataHeader, ModelHeader, TaskSettings
from evaluation.data import SAMPLE_LINE
from evaluation.masks.run import RunTotals
from evaluation.reporting.tables import Rate
from evaluation.results.suite_rows import scored_run
from evaluation.runner.request import ModelOptions, RunRequest, choose_suite
from evaluation.runner.run import run, score_file, suite_header
from evaluation.servers.client import RequestLimits
from tests.evaluation.measuring import miniature, request_of, sample
from tests.evaluation.servers.loopback import Said, answer, loopback
from tests.evaluation.suites.envelopes import own_records
from tests.tables import table

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.runner.request import RunResult


_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
)
_RECORDS = [Record(id=f"r{n}", group="g", schema=_SCHEMA) for n in range(3)]


_DEFAULTS = {
    "RunRequest": {
        name: getattr(RunRequest(), name)
        for name in RunRequest.__dataclass_fields__
        if name not in {"fetch", "settings", "bounds", "models"}
    },
    "RunSettings": RunSettings(),
    "ModelOptions": ModelOptions(),
    "as paper": ModelOptions(temperature=1.0, samples=4).as_paper(),
    "Bounds": Bounds(),
    "TaskSettings": TaskSettings(),
    "RecordSelection": RecordSelection(),
    "Response": Response(record="a"),
    "Verdict": Verdict(passed=True),
    "Record": Record(id="a"),
    "DataHeader": DataHeader(),
    "ModelHeader": ModelHeader(),
    "RunTotals": RunTotals(),
    "RequestLimits": RequestLimits(),
    "Case": Case(task="t", id="a", config="c", schema="{}"),
    "Row": Row(engine="e", task="t", id="a", config="c", result=Result.OK),
}


@pytest.mark.parametrize(("name", "members"), table(__file__, "defaults"))
def test_what_is_not_asked_for_has_its_default(
    name: str, members: dict[str, UntypedJson]
) -> None:
    """Settings of a run, and members that a line or a header may leave out."""
    assert json.loads(msgspec.json.encode(_DEFAULTS[name])) == members


@pytest.mark.parametrize(
    "least",
    [
        *("threads=1", "samples=1", "batch=1", "repeats=1", "budget=1", "memory=64"),
        *("seed=0", "temperature=0", "patience=0", "repairs=0", "orders=0"),
    ],
)
def test_a_setting_has_a_least_value(least: str) -> None:
    """It is taken, and the next lower one is refused."""
    name, _, text = least.partition("=")
    settings, _ = split_settings([least])
    assert getattr(settings, name) == int(text)
    with pytest.raises(BadUsage, match=name):
        split_settings([f"{name}={int(text) - 1}"])


def _request(tmp_path: Path, base: str, **more: Any) -> RunRequest:  # noqa: ANN401 - as the request's
    data = tmp_path / "made.jsonl"
    data.write_bytes(encode_records(_RECORDS))
    fetch = FetchSettings(cache=tmp_path / "cache")
    model = ModelOptions(
        model=f"{base}#small",
        prices=TokenPrices(prompt=1.0, output=10.0),
        patience=0.01,
        **more.pop("writing", {}),
    )
    return RunRequest(
        suite=choose_suite("passrate"),
        data=data,
        models=(model,),
        jobs=1,
        run_dir=tmp_path / "run",
        fetch=fetch,
        **more,
    )


def _verdicts(result: RunResult) -> dict[str, list[list[str]]]:
    """Return of every side and record the class of each attempt; empty if passed."""
    recorded = result.open()
    scored = scored_run(recorded, "passrate")
    return {
        label: [[v.failure_class for v in one.verdicts] for one in listed]
        for label, listed in scored.by_label.items()
    }


def _asked(body: dict[str, Any]) -> str:
    """Return the id of the record that a request asks for."""
    text = str(body["messages"][1]["content"])
    return text.partition("(task: ")[2].partition(")")[0]


def test_every_record_is_asked_free_and_constrained(tmp_path: Path) -> None:
    """What comes back is judged, counted and priced; the tables say so.

    The page has the prompt and the answer of each failure.
    """

    def reply(body: dict[str, Any], _number: int) -> Said:
        if "response_format" in body:
            return answer('{"n": 1}')
        texts = {"r0": '{"n": 1}', "r1": '{"n": 1, "m": 2}', "r2": '{"n": '}
        finish = "length" if _asked(body) == "r2" else "stop"
        return answer(texts[_asked(body)], finish=finish, reasoning_content="hm")

    with loopback(reply) as server:
        request = _request(tmp_path, server.base, engines=("none", "strict"))
        result = run(request)
    assert (result.totals.ran, result.totals.reused, result.problems) == (6, 0, ())
    assert _verdicts(result) == {
        "small free": [[""], ["hallucination"], ["truncated"]],
        "small strict": [[""], [""], [""]],
    }
    recorded = result.open()
    free, held = (
        listed[0] for listed in scored_run(recorded, "passrate").by_label.values()
    )
    assert free.prompt_tokens == 7
    assert free.cost == pytest.approx(17e-6)
    assert free.seconds is not None
    assert held.condition == "strict"
    (tables,) = tables_by_task(recorded).values()
    first, rates, *_ = tables
    assert [row[:2] for row in first.rows] == [
        ("small strict", Rate(3, 3)),
        ("small free", Rate(1, 3)),
    ]
    assert [row[:3] for row in rates.rows] == [
        ("all", "small free", 3),
        ("all", "small strict", 3),
    ]


def test_no_writer_is_always_the_first(tmp_path: Path) -> None:
    """A server that keeps prompts would make every other one look fast."""
    order: list[str] = []

    def said(body: dict[str, Any], _number: int) -> Said:
        order.append("bound" if "response_format" in body else "free")
        return answer('{"n": 1}')

    with loopback(said) as server:
        run(_request(tmp_path, server.base, engines=["none", "strict"]))
    assert order == ["free", "bound", "bound", "free", "free", "bound"]


def test_a_record_without_a_schema_is_not_asked_under_a_constraint(
    tmp_path: Path,
) -> None:
    """There is nothing to hold an answer to; it is asked free, and none is missing."""
    asked: list[tuple[str, bool]] = []

    def reply(body: dict[str, Any], _number: int) -> Said:
        asked.append((_asked(body), "response_format" in body))
        return answer('{"n": 1}')

    with loopback(reply) as server:
        request = _request(tmp_path, server.base, engines=("none", "strict"))
        bare = Record(id="bare", group="g")
        (tmp_path / "made.jsonl").write_bytes(encode_records([_RECORDS[0], bare]))
        result = run(request)
    assert sorted(asked) == [("bare", False), ("r0", False), ("r0", True)]
    assert (result.totals.ran, result.problems) == (3, ())


@pytest.mark.slow
def test_a_run_that_was_ended_goes_on(tmp_path: Path) -> None:
    """What was answered is not asked again, and a torn last line is."""
    with loopback([answer('{"n": 1}')]) as server:
        run(_request(tmp_path, server.base))
        file = tmp_path / "run" / "responses.jsonl"
        whole = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(whole[0] + whole[1][:20])
        asked = len(server.asked)
        result = run(_request(tmp_path, server.base))
        assert len(server.asked) - asked == 2
    assert (result.totals.ran, result.totals.reused) == (2, 1)
    assert _verdicts(result) == {"small free": [[""], [""], [""]]}


def test_a_failed_answer_is_handed_back_with_its_reasons(tmp_path: Path) -> None:
    """The model sees its answer and the validator's words; each attempt counts."""
    turns: list[list[dict[str, Any]]] = []

    def reply(body: dict[str, Any], _number: int) -> Said:
        messages = body["messages"]
        turns.append(messages)
        attempt = (len(messages) - 2) // 2
        wanted = {"r0": 0, "r1": 1, "r2": 9}[_asked(body)]
        return answer('{"n": 1}' if attempt >= wanted else '{"n": "one"}')

    with loopback(reply) as server:
        result = run(_request(tmp_path, server.base, repairs=2))
    wrong = "schema_violation"
    assert _verdicts(result) == {"small free": [[""], [wrong, ""], [wrong] * 3]}
    handed_back = next(messages for messages in turns if len(messages) == 4)
    assert handed_back[2]["content"] == '{"n": "one"}'
    assert '/n: "one" is not of type "integer" [type]' in handed_back[3]["content"]
    (tables,) = tables_by_task(result.open()).values()
    repaired = next(t for t in tables if t.slug == "repairs")
    assert [[str(cell)[:6] for cell in row[1:]] for row in repaired.rows] == [
        ["33.3 %", "66.7 %", "66.7 %"]
    ]


@pytest.mark.slow
def test_what_a_server_in_trouble_left_out_is_asked_again(tmp_path: Path) -> None:
    """Until then it is an error of its own, and never counts twice."""
    mended: list[bool] = []

    def reply(body: dict[str, Any], _number: int) -> Said:
        if _asked(body) == "r1" and not mended:
            return Said(status=503, pieces=[b"busy"])
        return answer('{"n": 1}')

    with loopback(reply) as server:
        first = run(_request(tmp_path, server.base))
        assert first.totals.unanswered == 1
        assert _verdicts(first) == {"small free": [[""], ["api_error"], [""]]}
        mended.append(True)
        second = run(_request(tmp_path, server.base))
    totals = second.totals
    assert (totals.ran, totals.reused, totals.unanswered) == (1, 2, 0)
    assert _verdicts(second) == {"small free": [[""], [""], [""]]}
    assert second.problems == ()


@pytest.mark.slow
def test_a_folder_is_scored_again_under_another_reading(tmp_path: Path) -> None:
    """In place where nothing differs; else into a folder of its own, named so."""
    text = '{"n": 1, "m": 2}'
    opened = json.loads(_SCHEMA)
    del opened["additionalProperties"]
    with loopback([answer(text)]) as server:
        request = _request(tmp_path, server.base)
        data = tmp_path / "made.jsonl"
        record = Record(id="r0", group="g", schema=json.dumps(opened))
        data.write_bytes(encode_records([record]))
        result = run(request)
    assert _verdicts(result) == {"small free": [["hallucination"]]}
    again = RunRequest(
        suite=choose_suite("passrate", {"mode": "schema"}),
        jobs=1,
        run_dir=tmp_path / "again",
        fetch=request.fetch,
    )
    other = score_file(again, result.folder)
    assert _verdicts(other) == {"small free": [[""]]}
    request = RunRequest(suite=request.suite, jobs=1, fetch=request.fetch)
    same = score_file(request, result.folder)
    assert same.folder == result.folder


def test_whatever_a_server_says_has_its_class(tmp_path: Path) -> None:
    """Nothing raises, and nothing is left without a verdict."""
    replies: dict[str, tuple[Said, str]] = {
        "empty": (answer(""), "empty"),
        "thought": (answer("<think>hm"), "empty"),
        "apart": (answer("", reasoning_content='{"n": 1}'), "empty"),
        "sorry": (answer("I'm sorry, I cannot do that."), "refusal"),
        "no": (answer("", refusal="No."), "refusal"),
        "filtered": (answer("", finish="content_filter"), "refusal"),
        "cut": (answer('{"n"', finish="length"), "truncated"),
        "bad": (Said(status=400, pieces=[b"no"]), "api_error"),
        "nested": (answer("[" * 10_000 + "]" * 10_000), "syntax_error"),
        "surrogate": (answer('{"n": "\\ud800"}'), "syntax_error"),
    }
    with loopback(lambda body, _number: replies[_asked(body)][0]) as server:
        request = _request(tmp_path, server.base)
        (tmp_path / "made.jsonl").write_bytes(
            encode_records(Record(id=name, schema=_SCHEMA) for name in replies)
        )
        result = run(request)
    recorded = result.open()
    (scored,) = scored_run(recorded, "passrate").by_label.values()
    assert {one.record: one.verdict.failure_class for one in scored} == {
        name: expected for name, (_, expected) in replies.items()
    }


@pytest.mark.parametrize(("origin", "said"), [("sample", True), ("file", False)])
def test_a_suite_on_the_sample_says_so(origin: str, said: bool) -> None:  # noqa: FBT001 - a parameter
    """Its header has the words of `eval`, which every table and page repeat."""
    records = RecordSet(name="x", origin=origin, records=tuple(_RECORDS))
    head = suite_header(choose_suite("passrate"), records, [], {})
    data = msgspec.convert(head["data"], DataHeader)
    assert data.partial == ((SAMPLE_LINE,) if said else ())
    assert data.records == len(_RECORDS)


def test_a_run_of_another_prompt_is_another_run(tmp_path: Path) -> None:
    """Else the answers to the text that a file had before would be those that count."""
    prompts, plans = tmp_path / "prompts.toml", set()
    choice = choose_suite("quality", {"prompts": str(prompts)})
    (record,) = own_records(choice, 1, 0)
    for text in ("Be brief.", "Be exact.", "Be exact."):
        prompts.write_text(f'[last-letter]\ninstruction = "{text}"\nshots = []\n')
        records = RecordSet(name="x", origin="file", records=(record,))
        plans.add(suite_header(choice, records, [], {})["plan"])
    assert len(plans) == 2


_SAMPLES = [sample("one", "{}"), sample("two", "[1]"), sample("three", "7")]


def _task_request(folder: Path, **fields: object) -> csbdata.RunRequest:
    return request_of(
        folder,
        _SAMPLES,
        engines=[miniature("accept_all")],
        run_dir=folder / "run",
        **fields,
    )


def test_samples_are_handed_in_and_rows_come_back(tmp_path: Path) -> None:
    """No file has to be written first; the header says that they were given."""
    result = csbdata.run(_task_request(tmp_path))
    recorded = result.open()
    assert result.totals.ran == 3
    assert [row.id for row in recorded.rows()] == ["one", "three", "two"]
    assert recorded.raw_header["data"]["name"] == "given"
    assert recorded.raw_header["data"]["schemas"] == 3


def test_only_csbdata_s_own_command_line_is_in_the_header(tmp_path: Path) -> None:
    """What a program was called with, that calls `run`, asks csbdata for nothing."""
    request = _task_request(tmp_path)
    assert csbdata.run(request).open().header.command == ()
    with set_command_line(["eval", "--task", "masks"]):
        typed = csbdata.run(replace(request, run_dir=tmp_path / "typed")).open()
    assert typed.header.command == ("csbdata", "eval", "--task", "masks")


def test_the_same_request_continues_its_run(tmp_path: Path) -> None:
    """Nothing is measured twice; other samples are another run."""
    request = _task_request(tmp_path)
    csbdata.run(request)
    assert csbdata.run(request).totals.reused == 3
    with pytest.raises(CannotCreate, match=r"another run: data \(another content"):
        csbdata.run(replace(request, data=_SAMPLES[:2]))


@pytest.mark.parametrize(
    ("fields", "ids"),
    [
        ({"only": ["two"]}, ["two"]),
        ({"only": ["Made/one"]}, ["one"]),
        ({"configs": ["Other"]}, []),
    ],
)
def test_samples_are_chosen_as_those_of_a_file_are(
    tmp_path: Path, fields: dict[str, object], ids: list[str]
) -> None:
    """By id or config; whoever reads a run that was killed learns how many."""
    run = csbdata.run(_task_request(tmp_path, **fields)).open()
    assert [row.id for row in run.rows()] == ids
    assert run.header.rows == len(ids)


def test_given_instances_alone_are_walked_if_that_is_asked(tmp_path: Path) -> None:
    """Nothing is made for a schema that has none, and the header says so."""
    schema = tmp_path / "alone.schema.json"
    schema.write_text('{"type": "object"}')
    request = replace(_task_request(tmp_path), data=schema, given_only=True)
    run = csbdata.run(request).open()
    assert [len(row.walks) for row in run.rows()] == [0]
    assert run.header.data.instances == "none"


def test_a_run_without_a_usable_engine_says_so(tmp_path: Path) -> None:
    """It names the engine, why, and the command, and fetches nothing before."""
    request = replace(
        _task_request(tmp_path), engines=[miniature("absent")], tokenizer="smollm2"
    )
    with pytest.raises(Unavailable, match=r"absent.*is not installed.*pip install"):
        csbdata.run(request)
    assert not (tmp_path / "cache").exists()
    assert not (tmp_path / "run").exists()


def test_the_papers_way_is_one_call(tmp_path: Path) -> None:
    """Presets, split, limits, and what is said of models change; the rest stays."""
    request = _task_request(tmp_path)
    paper = request.as_paper()
    assert (paper.preset, [*paper.splits]) == ("paper", ["test"])
    assert paper.vacuous
    assert paper.bounds.compile_seconds == paper.bounds.run_seconds == 40.0
    bounds = replace(request.bounds, compile_seconds=7.0)
    paper_bounds = replace(request, bounds=bounds).as_paper({"compile_seconds"}).bounds
    assert paper_bounds == replace(paper.bounds, compile_seconds=7.0)
    assert (paper.models[0].compat, paper.models[0].dtype) == ("paper", "bf16")
    given = replace(request.models[0], budget=7).as_paper({"budget", "forced"})
    assert (given.budget, given.dtype, given.forced_as_paper) == (7, "bf16", False)
    assert paper.engines == request.engines
