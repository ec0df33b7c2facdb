"""`--serve`: a server that csbdata starts, for `eval` and for suites."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psutil
import pytest
import typer
from typer.testing import CliRunner

from curation.system.errors import BadUsage, Unavailable
from evaluation.commands import suite
from evaluation.commands.eval import evaluate
from evaluation.results.outcomes import WRITTEN
from evaluation.results.reader import open_run
from tests.evaluation.server_programs.test_running_server import install
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from pathlib import Path

_APP = typer.Typer()
_APP.command("eval")(evaluate)
_APP.add_typer(suite.app, name="suite")


def _schemas(folder: Path) -> Path:
    data = folder / "schemas"
    data.mkdir()
    for name in ("bow", "keel", "mast"):
        schema = {"type": "object", "required": [name]}
        (data / f"{name}.json").write_text(json.dumps(schema))
    return data


def _said(words: list[str]) -> str:
    told = CliRunner().invoke(_APP, words, catch_exceptions=False)
    assert told.exit_code == 0
    return told.output


@pytest.mark.slow
def test_a_server_lost_in_a_stream_ends_the_run_and_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its text has no answer, its children are gone; in the end all texts are there."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    notes = install(tmp_path / "cache", how="dies-once")
    words = [
        *("eval", "--serve", "vllm", "--model", "small", "--task", "coverage"),
        *("--engine", "vllm", "--engine", "none", "--budget", "9"),
        *("--patience", "0.01", "--data", str(_schemas(tmp_path))),
        *("--tokenizer", str(made.byte_level(tmp_path / "tokenizer"))),
        *("--run-dir", str(tmp_path / "run")),
    ]
    with pytest.raises(Unavailable, match=r"vllm has ended \(exit code 9\)") as lost:
        CliRunner().invoke(_APP, words, catch_exceptions=False)
    assert "the same command goes on" in lost.value.then
    assert not _is_running(json.loads(notes.read_text())["child"])
    before = [json.loads(line) for line in _lines(tmp_path / "run")]
    lost_texts = [row["label"][WRITTEN] for row in before if not row["fingerprint"]]
    assert len(before) - len(lost_texts) == 2
    assert set(lost_texts) == {"model_error"}
    _said(words)
    assert not psutil.pid_exists(json.loads(notes.read_text())["pid"])
    rows = [json.loads(line) for line in _lines(tmp_path / "run")]
    done = [(row["engine"], row["id"]) for row in rows if row["fingerprint"]]
    assert len(done) == len(set(done)) == 6


def _is_running(pid: int) -> bool:
    if not psutil.pid_exists(pid):
        return False
    return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def _lines(run: Path) -> list[str]:
    return [
        line
        for file in sorted(run.glob("units-*.jsonl"))
        for line in file.read_text().splitlines()
    ]


@pytest.mark.slow
def test_a_suite_is_put_to_a_server_that_is_started_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another port the same command finds its answers; nothing is left running."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    notes = install(tmp_path / "cache")
    words = [
        *("suite", "passrate", "run", "--serve", "vllm", "--model", "small"),
        *("--engine", "none", "--engine", "vllm", "--jobs", "1"),
        *("--data", str(_schemas(tmp_path)), "--run-dir", str(tmp_path / "run")),
    ]
    assert "6 answers written now, 0 found there" in _said(words)
    assert "0 answers written now, 6 found there" in _said(words)
    assert not psutil.pid_exists(json.loads(notes.read_text())["pid"])
    header = open_run(tmp_path / "run").raw_header
    assert "127.0.0.1:" not in json.dumps(header["engines"])


def test_one_server_serves_one_model(tmp_path: Path) -> None:
    """Two models of a suite are two commands; said before anything is started."""
    words = [
        *("suite", "passrate", "run", "--serve", "vllm", "--model", "one"),
        *("--model", "two", "--data", str(_schemas(tmp_path))),
    ]
    with pytest.raises(BadUsage, match="one server serves one model"):
        CliRunner().invoke(_APP, words, catch_exceptions=False)
