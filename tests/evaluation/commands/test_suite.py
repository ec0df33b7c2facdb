"""`csbdata suite VERB NAME`: prompts, scores, self-tests and the order of words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from curation.fit.profile import load_profile
from curation.fit.verdict import is_sendable, judge_fit
from curation.system.errors import BadUsage, CannotCreate
from evaluation.asking.response_files import names_of
from evaluation.commands import suite
from evaluation.commands.suite import app
from evaluation.core.records import Record, encode_records
from evaluation.results.reader import open_run
from evaluation.results.suite_rows import scored_run
from tests.evaluation.servers.loopback import answer, loopback
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from curation.core.json_types import Json

_SCHEMA = '{"type": "object", "required": ["n"]}'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a file of two records."""
    path = tmp_path / "made.jsonl"
    records = [Record(id=name, group="g", schema=_SCHEMA) for name in "ab"]
    path.write_bytes(encode_records(records))
    return path


def _ask(*words: object) -> Any:  # noqa: ANN401 (typer's own)
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_suite_before_its_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an error that names the command to type."""
    words = ["csbdata", "suite", "sob", "run", "-n"]
    monkeypatch.setattr(suite, "command_line", words.copy)
    answer = _ask(*words[2:])
    assert isinstance(answer.exception, BadUsage)
    assert answer.exception.then == "csbdata suite run sob -n"


def test_prompts_are_written_with_their_records(data: Path, tmp_path: Path) -> None:
    """A line a record; the published reading leaves the description out."""
    out = tmp_path / "out" / "prompts.jsonl"
    out.parent.mkdir()
    answer = _ask("prompts", "passrate@paper", "--data", data, "--out", out)
    assert answer.exit_code == 0, answer.output
    first = json.loads(out.read_text().splitlines()[0])
    assert first["record"] == "g/a"
    assert (out.parent / "records.jsonl").exists()


@pytest.mark.parametrize(
    ("out", "more"),
    [
        ("prompts.jsonl", ["--data", "records.jsonl", "--limit", "1"]),
        ("own.jsonl", ["--data", "own.jsonl"]),
        ("records.jsonl", []),
        ("fits.jsonl", []),
        ("run/prompts.jsonl", []),
    ],
)
def test_prompts_replace_no_records(
    out: str, more: list[str], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the data, nor what stands beside the prompts, nor a run's records."""
    monkeypatch.chdir(data.parent)
    for name in ("records.jsonl", "own.jsonl", "fits.jsonl", "run/records.jsonl"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(data.read_bytes())
    Path("run/run.json").write_text("{}")
    before = {path: path.read_bytes() for path in Path().rglob("*.json*")}
    refused = _ask(
        "prompts", "passrate", *(more or ["--data", str(data)]), "--out", out
    )
    assert isinstance(refused.exception, BadUsage)
    assert "would replace records" in str(refused.exception)
    assert {path: path.read_bytes() for path in Path().rglob("*.json*")} == before


@pytest.mark.parametrize(
    ("suite", "setting"),
    [("passrate", "budget"), ("ifstruct", "budget"), ("passrate", "hints")],
)
def test_numbers_of_a_suite_are_not_negative(suite: str, setting: str) -> None:
    """They would be sent to a server, which refuses every request."""
    refused = _ask("prompts", suite, "--set", f"{setting}=-3", "--limit", "1")
    assert isinstance(refused.exception, BadUsage)
    assert f"$.{setting}" in str(refused.exception)


def test_lines_of_a_batch_name_the_model(data: Path) -> None:
    """One has to be named for openai-batch, and none can be for jsonl."""
    words = ["prompts", "passrate", "--data", data]
    batch = [*words, "--as", "openai-batch"]
    answer = _ask(*batch, "--model", "a-model")
    assert answer.exit_code == 0, answer.output
    lines = [json.loads(line) for line in answer.stdout.splitlines()]
    assert [names_of(line["custom_id"])[1] for line in lines] == ["free", "free"]
    assert {line["body"]["model"] for line in lines} == {"a-model"}
    for unnamed in (batch, [*batch, "--model", ""]):
        refused = _ask(*unnamed).exception
        assert isinstance(refused, BadUsage)
        typed = "csbdata suite prompts passrate --as openai-batch --model NAME"
        assert refused.then == typed
    unused = _ask(*words, "--model", "a-model").exception
    assert isinstance(unused, BadUsage)
    assert "--as openai-batch" in unused.then


@pytest.mark.parametrize("budget", first_fast(1, [123, None]))
def test_prompts_have_the_budgets_of_a_run(
    budget: int | None, data: Path, tmp_path: Path
) -> None:
    """That of `--set budget`, or else twice the longest witness in tokens."""
    witnesses: list[Json] = [json.dumps({"n": [*range(300)]})]
    record = Record(id="a", schema=_SCHEMA, fields={"witnesses": witnesses})
    data.write_bytes(encode_records([record]))
    words = ["coverage", "--data", data, *("--set", f"budget={budget}") * bool(budget)]
    written = set()
    for layout in ("jsonl", "openai-batch", "anthropic-batch"):
        more = ["--as", layout, *("--model", "m") * (layout != "jsonl")]
        said = _ask("prompts", *words, *more)
        assert said.exit_code == 0, said.output
        line = json.loads(said.stdout)
        body = line.get("body") or line.get("params") or line
        names = {"budget", "max_tokens", "max_completion_tokens"}
        written |= {body[name] for name in names & body.keys()}
    run = tmp_path / "run"
    with loopback(lambda _body, _number: answer("{}")) as server:
        words += ["--model", f"{server.base}#m", "--run-dir", run]
        assert _ask("run", *words).exit_code == 0
    asked = server.asked[0]["max_tokens"]
    assert written == {asked}
    assert budget in {None, asked}


def test_prompts_are_one_a_record(data: Path) -> None:
    """More texts of a record are not written, and so refused."""
    refused = _ask("prompts", "passrate", "--data", data, "--set", "samples=3")
    assert isinstance(refused.exception, BadUsage)
    assert "samples" in str(refused.exception)


def test_a_batch_is_of_a_provider_that_takes_it(data: Path) -> None:
    """The message says which model has none, and how one that has is named."""
    words = ["prompts", "passrate", "--data", data, "--as", "openai-batch"]
    for model in ("http://me:secret@localhost:1/v1#m", "anthropic:m", "vllm:m"):
        refused = _ask(*words, "--model", model).exception
        assert isinstance(refused, BadUsage)
        assert refused.where.endswith(model.rpartition("@")[2])
        assert "secret" not in str(refused)
        assert refused.then == "say --model openai:NAME"


@pytest.mark.slow
def test_a_limit_is_said_once(data: Path, tmp_path: Path) -> None:
    """Where it was reached before the first request too."""
    with loopback(lambda _body, _number: answer("{}")) as server:
        words = ["run", "passrate", "--data", data, "--model", f"{server.base}#m"]
        words += ["--set", "price=1/1", "--run-dir", tmp_path / "run"]
        for limit in ("0", "0.000001"):
            said = _ask(*words, "--max-cost", limit).stderr
            assert said.count("a higher one goes on") == 1, said


@pytest.mark.parametrize("layout", first_fast(1, ["openai-batch", "anthropic-batch"]))
def test_a_batch_has_both_halves_and_its_answers_are_scored(
    data: Path, tmp_path: Path, layout: str
) -> None:
    """Schema, temperature and budget go with it; the answers find record and way."""
    out = tmp_path / "batch.jsonl"
    words = ["prompts", "passrate", "--data", data, "--as", layout, "--out", out]
    asked = _ask(*words, "--model", "m", "--engine", "none", "--engine", "strict@low")
    assert asked.exit_code == 0, asked.output
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 4
    kept = []
    for line in lines:
        body = line.get("body") or line["params"]
        assert body["temperature"] == 0.0
        assert body.keys() & {"max_completion_tokens", "max_tokens"}
        assert "stream" not in body
        strict = names_of(line["custom_id"])[1] == "strict@low"
        assert ('"schema"' in json.dumps(body)) is strict
        text = '{"n": 1}' if strict else "no"
        name = {"custom_id": line["custom_id"]}
        if layout == "anthropic-batch":
            message = {"model": "m", "content": [{"type": "text", "text": text}]}
            message["stop_reason"] = "end_turn"
            result = {"type": "succeeded", "message": message}
            kept.append({**name, "result": result})
            continue
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        answer = {"status_code": 200, "body": {"model": "m", "choices": [choice]}}
        kept.append({**name, "response": answer})
    file = tmp_path / "output.jsonl"
    file.write_text("\n".join(map(json.dumps, kept)))
    more = ["--data", data, "--run-dir", tmp_path / "run", "--format", "json"]
    scored = _ask("score", "passrate", file, *more)
    assert scored.exit_code == 0, scored.output
    run = open_run(tmp_path / "run")
    passed = {
        side: [one.verdict.passed for one in answers]
        for side, answers in scored_run(run, "passrate").by_label.items()
    }
    assert passed == {"m free": [False, False], "m strict@low": [True, True]}


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["openai-batch", "anthropic-batch"])
def test_schemas_of_a_batch_are_fitted_and_its_answers_decoded(
    tmp_path: Path, layout: str
) -> None:
    """As in a live run: what cannot be sent is not declared, and fails."""
    deck: dict[str, object] = {"type": "integer"}
    closed: dict[str, object] = {"type": "object", "additionalProperties": False}
    schemas = {
        "map": {**closed, "properties": {"m": {"additionalProperties": deck}}},
        "lost": {**closed, "properties": {"d": {"type": "array", "contains": deck}}},
    }
    schemas["map"]["properties"]["m"]["type"] = "object"  # type: ignore[index]  # as written above
    records = [
        Record(id=name, group="g", schema=json.dumps(schema))
        for name, schema in schemas.items()
    ]
    data = tmp_path / "made.jsonl"
    data.write_bytes(encode_records(records))
    out = tmp_path / "out" / "batch.jsonl"
    words = ["prompts", "passrate", "--data", data, "--as", layout, "--out", out]
    words += ["--model", "m", "--engine", "strict"]
    undecodable = _ask(*(word for word in words if word not in {"--out", out}))
    assert isinstance(undecodable.exception, BadUsage)
    asked = _ask(*words)
    assert asked.exit_code == 0, asked.output
    (line,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert "lost" not in json.dumps(line)
    profile = load_profile("anthropic" if "params" in line else "openai-strict")
    sent = (
        line["params"]["output_config"]["format"]["schema"]
        if "params" in line
        else line["body"]["response_format"]["json_schema"]["schema"]
    )
    assert is_sendable(judge_fit(sent, profile))
    text = json.dumps({"m": [{"key": "a", "value": 1}]})
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    body = {"model": "m", "choices": [choice]}
    answer = {"custom_id": line["custom_id"], "response": {"body": body}}
    file = out.parent / "output.jsonl"
    file.write_text(json.dumps(answer))
    folder = tmp_path / "run"
    scored = _ask("score", "passrate", file, "--run-dir", folder, "--format", "json")
    assert scored.exit_code == 0, scored.output
    lines = (folder / "responses.jsonl").read_text().splitlines()
    first, second = map(json.loads, lines)
    assert json.loads(first["text"]) == {"m": {"a": 1}}
    assert second["finish"] == "engine_error"
    assert second["error"].startswith("not declared")


def test_a_file_of_responses_is_scored_and_gated(data: Path, tmp_path: Path) -> None:
    """A shared setting and one of the suite go to where they belong."""
    file = tmp_path / "answers.jsonl"
    lines = [{"record": f"g/{name}", "text": '{"n": 1}'} for name in "ab"]
    lines[1]["text"] = "no"
    file.write_text("\n".join(map(json.dumps, lines)))
    words = ["score", "passrate", file, "--data", data, "--run-dir", tmp_path / "run"]
    more = ["--set", "mode=schema", "--set", "budget=9", "--format", "json"]
    passed = _ask(*words, *more, "--fail-under", "50")
    assert passed.exit_code == 0, passed.output
    facts = open_run(tmp_path / "run").raw_header["suite"]
    assert (facts["settings"]["mode"], facts["settings"]["budget"]) == ("schema", 9)
    assert _ask(*words, *more, "--fail-under", "60").exit_code == 1


def test_a_file_that_cannot_be_written_costs_no_request(data: Path) -> None:
    """It is refused before a model rewords what would stand in it."""
    out = data / "records.jsonl"
    with loopback(lambda _body, _number: answer("Please.")) as server:
        words = ["generate", "ifstruct", "--rows", "1", "--out", out]
        refused = _ask(*words, "--rewriter", f"{server.base}#m").exception
    assert isinstance(refused, CannotCreate)
    assert server.asked == []


def test_a_selftest_has_no_surprises(data: Path) -> None:
    """Every known answer gets the verdict intended."""
    answer = _ask("selftest", "passrate", "--data", data, "--format", "json")
    assert answer.exit_code == 0, answer.output
