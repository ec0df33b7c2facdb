"""Tasks are folders, of other packages too; messages of engines mean keywords."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import csbdata
from curation.system.errors import BadConfiguration
from evaluation.analysis.run_report import tables_by_task
from evaluation.core.run_header import RefusalPattern
from evaluation.results.refusal_messages import _messages, refused_keywords
from evaluation.setup.engine_files import engine_paths
from evaluation.tasks import tasks
from tests.evaluation.measuring import miniature, request_of, sample
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_THEIRS = """
from evaluation.core.cases import Case, Result
from evaluation.core.task import Task, TaskInput
from evaluation.reporting.tables import Table

def cases(records, settings):
    for record in records:
        yield Case(
            task="compiles", id=record.id, config=record.group, schema=record.constraint
        )

def tables(run):
    rows = tuple((row.id, row.result.value) for row in run.rows())
    yield Table(title="Theirs", columns=("id", "result"), rows=rows)

TASK = Task(
    name={name!r},
    summary="Which schemas an engine compiles.",
    timed=False,
    input=TaskInput.SCHEMAS,
    cases=cases,
    tables=tables,
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
    table, by_schema = tables_by_task(run)["compiles"]
    assert by_schema.slug == "by-schema"
    assert table.rows == (("one", "compile_error"), ("two", "compile_error"))


def test_a_second_task_of_a_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says which name, and where it was found."""
    _add(tmp_path, "their_masks", "masks", monkeypatch)
    with pytest.raises(BadConfiguration, match="a second task named 'masks'"):
        tasks()


@pytest.mark.parametrize(("engine", "message", "meant"), table(__file__, "messages"))
def test_a_known_message_means_keywords(
    engine: str, message: str, meant: list[str]
) -> None:
    """As the engines of today word it, `-` as good as `_` in their names.

    A schema in a message, JSON or Python's, whole or cut off, means the keywords at
    its top; names inside do not count.
    """
    assert refused_keywords(engine, message) == {*meant}


def test_what_nobody_knows_stays_unmapped() -> None:
    """As does everything of an engine that nobody knows."""
    assert not refused_keywords("llguidance", "the moon is in the wrong phase")
    assert not refused_keywords("my_engine", "Unknown format: x")


def test_patterns_are_for_engines_that_exist() -> None:
    """A name misspelt would match nothing, in silence."""
    assert set(_messages()) <= set(engine_paths())


@given(st.sampled_from(sorted(_messages())), st.text())
def test_any_text_has_a_meaning_or_none(engine: str, message: str) -> None:
    """Never a fault: engines quote what strangers wrote."""
    for text in (message, f"Unsupported JSON Schema structure {message}"):
        found = refused_keywords(engine, text)
        assert all(isinstance(keyword, str) for keyword in found)


def test_an_engine_of_ones_own_says_what_its_messages_mean() -> None:
    """Its patterns come before those that are known of an engine of that name."""
    own = (
        RefusalPattern(pattern=r"too many (?P<keyword>\w+)"),
        RefusalPattern(pattern="nothing fits"),
    )
    meant = {"enum"}
    assert refused_keywords("my_engine", "too many enum", own) == meant
    assert not refused_keywords("my_engine", "too many enum")
    assert not refused_keywords("my_engine", "something else", own)
    known = 'Unimplemented keys: ["not"]'
    assert refused_keywords("llguidance", known, own) == refused_keywords(
        "llguidance", known
    )


@pytest.mark.parametrize("pattern", ["(", "a{4294967296}", "(" * 5_000 + ")" * 5_000])
def test_a_pattern_that_python_refuses_is_found_nowhere(pattern: str) -> None:
    """The header of a run is anybody's: the other patterns are tried all the same."""
    own = (
        RefusalPattern(pattern=pattern),
        RefusalPattern(pattern="a", keywords=("b",)),
    )
    assert refused_keywords("my_engine", "(a", own) == {"b"}
