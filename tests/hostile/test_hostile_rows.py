"""Reports over rows that no run of ours would have written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from curation import cli
from curation.system.errors import BadData
from evaluation.analysis.failures import failures, failures_table
from evaluation.asking.response_files import RESPONSES
from evaluation.core.cases import Result
from evaluation.core.records import Record, Verdict, encode_records
from evaluation.core.suite import ScoredResponse
from evaluation.reporting.printing import as_markdown
from evaluation.results.reader import open_run
from evaluation.results.suite_rows import row_from_scored, scored_run
from evaluation.tasks.registry import task_named
from evaluation.walking.run_folder import RECORDS
from tests.evaluation.made_runs import HEAD, row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import Row

LABELS: list[dict[str, UntypedJson]] = [
    {},
    {"category": None, "valid": "many", "tests": [], "texts": "two", "features": "not"},
    {"category": ["a"], "valid": True, "tests": -1, "texts": 10**18, "features": [[1]]},
    {"probe": "\x1b[31m", "feature": "|", "context": "\u202e", "category": "<script>"},
    {"family": "\x1b[31m", "size": "large", "repetition": {}, "outcome": 1},
    {"family": None, "size": -(10**18)},
]


@pytest.mark.parametrize("judged", [None, "not", [1], {"keyword": ["\x1b[31m"]}])
def test_texts_of_strangers_are_failures_that_can_be_printed(
    judged: UntypedJson, tmp_path: Path
) -> None:
    """Whatever a row says of a text that a model is said to have written."""
    label = {"outcome": "\x1b[31m", "judgement": judged}
    run = open_run(write_run(tmp_path, [row(task="other", walks=(), label=label)]))
    table = failures_table(run, failures(run), 9)
    assert len(table.rows) == 1
    assert "\x1b" not in as_markdown(table)


@pytest.mark.parametrize("task", ["test-suite", "probe", "masks"])
@pytest.mark.parametrize("result", list(Result))
def test_labels_of_strangers_end_no_report(
    task: str, result: Result, tmp_path: Path
) -> None:
    """Whatever a row's label holds, the tables can be printed."""
    rows = [
        row(task=task, id=f"o{number}", label=label, result=result, detail="\x1b]0;x")
        for number, label in enumerate(LABELS)
    ]
    run = open_run(write_run(tmp_path, rows, {"engines": [{"engine": "alpha 1.0"}]}))
    tables = task_named(task).report(run).tables
    text = "".join(as_markdown(each) for each in tables)
    # What a busy machine cut off is in no table.
    assert ("alpha" in text) is (result is not Result.UNDECIDED) or task == "probe"
    assert "\x1b" not in text
    assert "\u202e" not in text


_WRONG = ScoredResponse(
    record="g/a",
    group="g",
    repeat=0,
    model="m",
    condition="free",
    verdicts=(Verdict(passed=False, failure_class="parse"),),
)


def _suite_run(folder: Path, spec: str, row: Row) -> Path:
    """Write a run of a suite with one wrong answer, its record and its text."""
    facts = {"name": row.task, "spec": spec, "settings": {}, "compat": "", "models": []}
    header = {**HEAD, "engines": [{"engine": "m free"}], "tasks": [row.task]}
    write_run(folder, [row], {**header, "suite": facts})
    record = Record(id="a", group="g", schema="{}")
    (folder / RECORDS).write_bytes(encode_records([record]))
    (folder / RESPONSES).write_text('{"record": "g/a", "model": "m", "text": "no"}\n')
    return folder


def _said(*words: str) -> str:
    ended = CliRunner().invoke(cli.application(), words)
    return f"{ended.output} {ended.exception}"


def test_to_read_a_run_runs_no_code_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run's header may name the folder of a suite that came with it."""
    monkeypatch.chdir(tmp_path)
    kit = tmp_path / "downloaded" / "kit"
    kit.mkdir(parents=True)
    (kit / "suite.py").write_text("open('ran', 'w').close()\nraise SystemExit\n")
    wrong = row_from_scored(_WRONG, "kit", "f")
    run = _suite_run(tmp_path / "run", "downloaded/kit", wrong)
    text = _said("results", "show", str(run))
    assert not (tmp_path / "ran").exists()
    assert "m free" in " ".join(text.split())


@pytest.mark.parametrize("label", [{}, {"verdicts": []}])
def test_a_row_of_no_answer_is_named(
    label: dict[str, UntypedJson], tmp_path: Path
) -> None:
    """A label without its record, or without a verdict, is no answer's."""
    wrong = row_from_scored(_WRONG, "passrate", "f")
    other = replace(wrong, label={**wrong.label, **label} if label else {})
    run = open_run(_suite_run(tmp_path, "passrate", other))
    with pytest.raises(BadData, match=r"m free, g/a.*no row of suite passrate"):
        scored_run(run, "passrate")
