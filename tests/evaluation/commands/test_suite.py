"""`csbdata suite VERB NAME`: prompts, scores and the order of words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.system.errors import BadUsage, CannotCreate, CsbdataError
from evaluation.core.records import Record, encode_records
from evaluation.results.reader import open_run
from tests.evaluation.servers.loopback import answer, loopback, refusal
from tests.invoking import invoke
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from typer.testing import Result

    from curation.core.json_types import Json

_SCHEMA = '{"type": "object", "required": ["n"]}'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a file of two records."""
    path = tmp_path / "made.jsonl"
    records = [Record(id=name, group="g", schema=_SCHEMA) for name in "ab"]
    path.write_bytes(encode_records(records))
    return path


def _ask(*words: object) -> Result:
    return invoke("suite", *words)


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
        ("run/prompts.jsonl", []),
    ],
)
def test_prompts_replace_no_records(
    out: str, more: list[str], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the data, nor what stands beside the prompts, nor a run's records."""
    monkeypatch.chdir(data.parent)
    for name in ("records.jsonl", "own.jsonl", "run/records.jsonl"):
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


@pytest.mark.parametrize("budget", first_fast(1, [123, None]))
def test_prompts_have_the_budgets_of_a_run(
    budget: int | None, data: Path, tmp_path: Path
) -> None:
    """That of `--set budget`, or else twice the longest witness in tokens."""
    witnesses: list[Json] = [json.dumps({"n": [*range(300)]})]
    record = Record(id="a", schema=_SCHEMA, fields={"witnesses": witnesses})
    data.write_bytes(encode_records([record]))
    words = ["coverage", "--data", data, *("--set", f"budget={budget}") * bool(budget)]
    said = _ask("prompts", *words)
    assert said.exit_code == 0, said.output
    written = json.loads(said.stdout)["budget"]
    run = tmp_path / "run"
    with loopback(lambda _body, _number: answer("{}")) as server:
        words += ["--model", f"{server.base}#m", "--run-dir", run]
        assert _ask("run", *words).exit_code == 0
    asked = server.asked[0]["max_tokens"]
    assert written == asked
    assert budget in {None, asked}


_RUN = "run passrate --data DATA --model URL#m --run-dir DATA-run"


def _run(words: str, base: str, data: Path) -> Result:
    """Run a command, with a server's address for URL and a file for DATA."""
    return _ask(*words.replace("URL", base).replace("DATA", str(data)).split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        # A server would refuse every request.
        ("prompts passrate --set budget=-3 --limit 1", "$.budget"),
        ("prompts ifstruct --set budget=-3 --limit 1", "$.budget"),
        ("prompts concodeeval --set samples=-3 --limit 1", "$.samples"),
        ("prompts passrate --data DATA --set samples=3", "samples and repairs"),
        (f"{_RUN} --id c", "none of the records is selected"),
        (f"{_RUN} --split dev", "leave --split out"),
        ("generate passrate --rows 1 --out DATA", "passrate generates no records"),
        (
            f"{_RUN} --model URL#m",
            "would take part twice: ask each in a run of its own",
        ),
    ],
)
def test_what_cannot_be_asked_or_written_is_named(
    words: str, said: str, data: Path
) -> None:
    """No text twice of a record, nothing of no record, no records of no generator."""
    with loopback(lambda _body, _number: answer("{}")) as server:
        error = _run(words, server.base, data).exception
        assert server.asked == []
    assert isinstance(error, CsbdataError)
    assert said in f"{error.message}: {error.hint}"


@pytest.mark.slow
def test_a_limit_is_said_once(data: Path) -> None:
    """Where it was reached before the first request too."""
    with loopback(lambda _body, _number: answer("{}")) as server:
        for limit in ("0", "0.000001"):
            words = f"{_RUN} --set price=1/1 --max-cost {limit}"
            said = _run(words, server.base, data).stderr
            assert said.count("a higher limit to resume") == 1, said


@pytest.mark.slow
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
    opened = open_run(tmp_path / "run")
    facts = opened.raw_header["suite"]
    assert opened.header.settings.seed == 0
    assert (facts["settings"]["mode"], facts["settings"]["budget"]) == ("schema", 9)
    assert _ask(*words, *more, "--fail-under", "60").exit_code == 1


@pytest.mark.parametrize(("ways", "fault"), [("none tool", ""), ("tool", "no model")])
def test_a_way_that_a_model_lacks_is_named(data: Path, ways: str, fault: str) -> None:
    """A run ends with a fault where no other way is left."""
    lacks = "Unsupported parameter: 'tools' is not supported with this model."
    refused = refusal(400, {"error": {"message": lacks, "param": "tools"}})
    with loopback(
        lambda body, _: refused if "tools" in body else answer('{"n": 1}')
    ) as server:
        words = " --engine ".join([_RUN, *ways.split()])
        said = _run(words, f"openai:{server.base}", data)
    assert "was not run: not available" in said.output
    assert fault in str(said.exception or "")
    assert (said.exit_code == 0) is (not fault), said.output


def test_several_texts_of_a_record_need_a_temperature(data: Path) -> None:
    """Greedy decoding writes the same text every time."""
    with loopback(lambda _body, _number: answer('{"n": 1}')) as server:
        words = f"{_RUN} --set samples=2"
        assert isinstance(_run(words, server.base, data).exception, BadUsage)
        assert server.asked == []
        warmer = f"{words} --set temperature=0.7"
        assert _run(warmer, server.base, data).exit_code == 0
    assert len(server.asked) == 4


def test_a_file_that_cannot_be_written_costs_no_request(data: Path) -> None:
    """It is refused before a model rewords what would stand in it."""
    out = data / "records.jsonl"
    with loopback(lambda _body, _number: answer("Please.")) as server:
        words = ["generate", "ifstruct", "--rows", "1", "--out", out]
        refused = _ask(*words, "--rewriter", f"{server.base}#m").exception
    assert isinstance(refused, CannotCreate)
    assert server.asked == []
