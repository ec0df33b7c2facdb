"""Runs of a suite are compared by record, gated, and their failures listed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from curation.download.acquire import FetchSettings
from evaluation.asking.request import RunRequest, choose_suite
from evaluation.asking.run import score_file
from evaluation.commands.results import app
from evaluation.core.records import Record, encode_records

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result as Answer

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
    fetch = FetchSettings(cache=folder / "cache")
    request = RunRequest(
        suite=choose_suite("passrate"),
        data=folder / "made.jsonl",
        jobs=1,
        run_dir=folder / "run",
        fetch=fetch,
    )
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


def test_models_are_compared_on_the_records_that_both_answered(better: Path) -> None:
    """Six records that only one model got right: exact McNemar, 2 / 2^6."""
    answer = _ask("compare", str(better), "--format", "json", "--all")
    assert answer.exit_code == 0
    assert "0.03125" in answer.stdout


def test_a_run_that_is_no_worse_is_no_failure(better: Path, worse: Path) -> None:
    """Held against what was worse, nothing is lost."""
    words = ("compare", str(better), str(worse), "--fail-on", "worse")
    assert _ask(*words).exit_code == 0


def test_a_run_that_is_worse_is_one(better: Path, worse: Path) -> None:
    """Three of 24 answers are lost."""
    answer = _ask("compare", str(worse), str(better), "--fail-on", "worse")
    assert answer.exit_code == 1
    assert "3 worse" in answer.stderr


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
