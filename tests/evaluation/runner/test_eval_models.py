"""`csbdata eval` with a model: tables, resume, and what is said where one lacks."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from curation.system.errors import BadConfiguration, NoInput
from evaluation.commands.eval import evaluate
from evaluation.results.description import describe
from evaluation.results.reader import open_run
from tests.evaluation.suites.coverage.written_texts import text_from_row
from tests.late import Late
from tests.tables import table

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    import transformers

    from evaluation.suites.coverage.texts import GeneratedText
else:
    torch = Late("torch")
    transformers = Late("transformers")

_APP = typer.Typer()
_APP.command()(evaluate)


def _closed(name: str, value: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: value},
        "required": [name],
        "additionalProperties": False,
    }


_SCHEMAS = {
    "ferry": _closed("deck", {"enum": ["upper", "lower"]}),
    "tide": _closed("rising", {"type": "boolean"}),
    "odd": {"type": "array", "uniqueItems": True, "items": {"type": "null"}},
}
_COMPACT = ("whitespace_flexible=false", "item_separator=,", "key_separator=:")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of schemas."""
    folder = tmp_path_factory.mktemp("schemas")
    for name, schema in _SCHEMAS.items():
        (folder / f"{name}.json").write_text(json.dumps(schema))
    return folder


@pytest.fixture(autouse=True)
def cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Keep what is made in a cache of this test's own."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def _words(model: Path, data: Path, run: Path, *more: str) -> list[str]:
    options = [each for assignment in _COMPACT for each in ("--option", assignment)]
    return [
        *("--engine", "llguidance", "--engine", "none", "--task", "coverage"),
        *("--task", "efficiency", "--model", str(model), "--set", "dtype=fp32"),
        *("--device", "cpu", "--data", str(data), "--set", "budget=60"),
        *("--run-dir", str(run), "--format", "json", *options, *more),
    ]


def _run(*words: object) -> Any:  # noqa: ANN401 (JSON)
    """Return what the command prints, read.

    Raises:
        CsbdataError: what `csbdata` would tell in one line.
    """
    answer = CliRunner().invoke(_APP, _words(*words), catch_exceptions=False)  # type: ignore[arg-type]  # typer's own click
    return json.loads(answer.stdout)


def _texts(run: Path) -> list[GeneratedText]:
    return [text_from_row(row) for row in open_run(run).rows()]


def _said(texts: list[GeneratedText]) -> list[tuple[str, str, str, str]]:
    return [
        (each.scored.label, each.scored.record, each.generation.text, each.outcome)
        for each in texts
    ]


@pytest.mark.slow
def test_a_model_writes_for_every_schema_under_every_engine(
    model_folder: Path, data: Path, tmp_path: Path
) -> None:
    """One row a schema and engine; what the engine constrains is compliant."""
    run = tmp_path / "run"
    told = _run(model_folder, data, run)
    texts = _texts(run)
    assert len(texts) == 2 * len(_SCHEMAS)
    compliant = {
        each.scored.record.rpartition("/")[2].partition(".")[0]
        for each in texts
        if each.scored.label.startswith("llguidance") and each.compliant
    }
    assert compliant >= {"ferry", "tide"}
    names = {each["name"] for each in told["tables"]}
    assert {"coverage", "classes", "outputs", "efficiency", "passes"} <= names
    header = open_run(run).raw_header["models"]
    assert header["dtype"] == "float32"
    assert header["prompt"] == "sections"
    lines = (run / "attempts.jsonl").read_bytes()
    _run(model_folder, data, run)
    assert (run / "attempts.jsonl").read_bytes() == lines


@pytest.mark.slow
def test_as_the_paper_but_for_what_is_said(
    model_folder: Path, data: Path, tmp_path: Path
) -> None:
    """`--compat paper` overrules nothing of the command line, and `none` takes part.

    Forced tokens are taken where the paper took them.
    """
    run = tmp_path / "run"
    words = ("--compat", "paper", "--set", "shots=0", "--split", "")
    _run(model_folder, data, run, *words)
    texts = _texts(run)
    engines = {text.scored.label.partition(" ")[0] for text in texts}
    assert engines == {"llguidance", "none"}
    for text in texts:
        if text.generation.generated and len(text.generation.tokens) > 1:
            assert (text.generation.forced > 0) is text.scored.label.startswith(
                "llguidance"
            )
    header = open_run(run).raw_header
    assert header["models"]["shots"] == []
    assert header["models"]["budget"] == 60
    assert header["models"]["dialect"] == "2020-12"
    assert header["limits"]["compile_seconds"] == 40.0


@pytest.mark.slow
def test_killed_anywhere_the_same_command_finishes(
    model_folder: Path, data: Path, tmp_path: Path
) -> None:
    """SIGKILL at random instants, the same command again: the same texts, each once."""
    _run(model_folder, data, tmp_path / "whole")
    words = _words(model_folder, data, tmp_path / "killed")
    chance = random.Random(11)
    for _ in range(5):
        with subprocess.Popen(
            [sys.executable, "-m", "curation", "eval", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as child:
            try:
                child.wait(chance.uniform(3, 9))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
    _run(model_folder, data, tmp_path / "killed")
    killed, whole = _texts(tmp_path / "killed"), _texts(tmp_path / "whole")
    assert _said(killed) == _said(whole)


def test_a_model_that_is_not_there_is_one_line(data: Path, tmp_path: Path) -> None:
    """A folder without a model is told, with what would be one."""
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(NoInput, match=str(empty)):
        _run(empty, data, tmp_path / "run")


@pytest.mark.parametrize(
    ("words", "told"),
    table(__file__, "refused"),
)
def test_what_makes_no_sense_is_told_before_anything_is_written(
    model_folder: Path, data: Path, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    """A setting that cannot be had is one line with what can."""
    run = tmp_path / "run"
    with pytest.raises(BadConfiguration) as caught:
        _run(model_folder, data, run, *words)
    assert told in f"{caught.value} {caught.value.hint}"
    assert not run.exists()


def test_a_run_begins_with_who_wrote_and_how(
    model_folder: Path, data: Path, tmp_path: Path
) -> None:
    """`results show` says model, device, libraries, prompt and budget."""
    run = tmp_path / "run"
    _run(model_folder, data, run, "--id", "tide")
    recorded = open_run(run)
    lines = describe(recorded.header)
    assert lines[0].startswith(f"model: {model_folder}, revision ")
    assert lines[0].endswith("float32, on cpu, 1 threads")
    assert f"torch {torch.__version__}" in lines[1]
    assert f"transformers {transformers.__version__}" in lines[1]
    asked = "prompt sections with 2 shots, budget 60 tokens, greedy, dated 2024-07-26"
    assert lines[2] == f"texts: {asked}"
    assert lines[-1].startswith("made: 20")
    assert f"tokenizer: {model_folder}" in lines
    trial = "passes over a trial text when the model is loaded"
    assert f"warm-up (not measured): {trial}" in lines
