"""The suite through its commands: score, report of several runs, self-test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from evaluation.commands.suite import app
from tests.evaluation.suites.sob.stored import stored_records

if TYPE_CHECKING:
    from pathlib import Path


def _csbdata(*words: object, code: int = 0) -> str:
    """Return the stdout of a command that ends with this code."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.stdout


def _submitted(folder: Path, model: str, *, right: bool) -> Path:
    """Write the answers of a model to six records as the authors' files have them."""
    lines = []
    for record in stored_records()[:6]:
        answer = record.ground_truth if right else "I do not know."
        lines.append(
            {
                "metadata": {"record_id": record.record_id, "model_id": model},
                "input": {
                    "context": record.context,
                    "question": record.question,
                    "json_schema": record.json_schema,
                },
                "output": {
                    "candidate_response": answer,
                    "ground_truth": record.ground_truth,
                },
            }
        )
    file = folder / f"response_{model}.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return file


def _table(tables: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(table for table in tables if table["name"] == name)


@pytest.mark.slow
def test_published_answers_are_scored_and_reported_together(tmp_path: Path) -> None:
    """The files of two models, one after the other, have one leaderboard."""
    files = [
        _submitted(tmp_path, model, right=right)
        for model, right in (("wise", True), ("lost", False))
    ]
    both = tmp_path / "both.jsonl"
    both.write_text("\n".join(file.read_text("utf-8") for file in files), "utf-8")
    asked = ("score", "sob@paper", both, "--data", files[0], "--format", "json")
    out = _csbdata(*asked, "--run-dir", tmp_path / "run")
    report = json.loads(out[: out.rindex("}") + 1])
    board = _table(report["tables"], "leaderboard")
    assert [row["model"] for row in board["rows"]] == ["wise free", "lost free"]
    assert board["rows"][0]["perfect"] == 1
    assert board["rows"][1]["overall"] == 0


@pytest.mark.slow
def test_the_self_test_passes_in_both_readings() -> None:
    """Every known answer to 36 records has the verdict intended."""
    for suite in ("sob", "sob@paper"):
        asked = ("selftest", suite, "--limit", 36, "--set", "first=true")
        _csbdata(*asked, "--format", "json")
