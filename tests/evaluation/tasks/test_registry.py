"""Tasks: ours are folders, and another package adds one without a change to ours."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pytest

import csbdata
from curation.system.errors import BadConfiguration
from evaluation.analysis.run_report import reports
from evaluation.tasks.registry import task_named, tasks
from tests.evaluation.measuring import miniature, request_of, sample

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_THEIRS = """
from evaluation.core.cases import Case, Result
from evaluation.core.task import Task, TaskInput
from evaluation.reporting.report import Report
from evaluation.reporting.tables import Table

def cases(records, settings):
    for record in records:
        yield Case(
            task="compiles", id=record.id, config=record.group, schema=record.constraint
        )

def report(run):
    rows = tuple((row.id, row.result.value) for row in run.rows())
    return Report(tables=(Table(title="Theirs", columns=("id", "result"), rows=rows),))

TASK = Task(
    name={name!r},
    summary="Which schemas an engine compiles.",
    timed=False,
    input=TaskInput.SCHEMAS,
    cases=cases,
    report=report,
    passes=lambda row: row.result is Result.OK,
)
"""


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Look for tasks anew, and leave nothing behind for other tests."""
    tasks.cache_clear()
    yield
    tasks.cache_clear()


def _add(folder: Path, module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a task to a file of a folder, as if it were one of ours."""
    (folder / f"{module}.py").write_text(_THEIRS.format(name=name), "utf-8")
    package = import_module("evaluation.tasks")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])


def test_every_file_and_folder_with_a_task_is_one() -> None:
    """In alphabetical order, each under the name that it gives itself."""
    assert list(tasks()) == [
        "coverage",
        "efficiency",
        "masks",
        "probe",
        "test-suite",
    ]


def test_a_file_adds_a_task_that_runs_and_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is edited: the task is measured, and its report is shown."""
    _add(tmp_path, "their_task", "compiles", monkeypatch)
    engines = [miniature("refuse_all")]
    request = request_of(
        tmp_path,
        [sample("one"), sample("two")],
        tasks=("compiles",),
        engines=engines,
        run_dir=tmp_path / "run",
    )
    run = csbdata.run(request).open()
    table, by_schema = reports(run)["compiles"].tables
    assert by_schema.slug == "by-schema"
    assert table.rows == (("one", "compile_error"), ("two", "compile_error"))


def test_a_second_task_of_a_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says which name, and where it was found."""
    _add(tmp_path, "their_masks", "masks", monkeypatch)
    with pytest.raises(BadConfiguration, match="a second task named 'masks'"):
        task_named("masks")
