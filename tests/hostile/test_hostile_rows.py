"""Reports over rows that no run of ours would have written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluation.analysis.failures import failures, failures_table
from evaluation.core.cases import Result
from evaluation.reporting.printing import as_markdown
from evaluation.results.reader import open_run
from evaluation.tasks.registry import task_named
from tests.evaluation.made_runs import row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson

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


@pytest.mark.parametrize(
    "task", ["test-suite", "declared", "probe", "masks", "scaling"]
)
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
