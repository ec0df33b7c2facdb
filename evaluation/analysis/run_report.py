"""The tables of a run, by task."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from curation.system.errors import CsbdataError, NoInput
from evaluation.core.cases import Result, Row
from evaluation.reporting.tables import Table, in_turns
from evaluation.results.headline import tables as tables_of_any
from evaluation.results.outcomes import (
    Outcome,
    engine_is_wrong,
    read_outcome,
    text_class,
    text_keyword,
)
from evaluation.results.refusal_messages import refused_keywords

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evaluation.core.task import Task
    from evaluation.results.reader import RecordedRun

#: The name of the table of `schema_matrix`.
BY_SCHEMA: Final = "by-schema"
#: The most schemas that have a line each in it.
_MAX_SCHEMAS: Final = 20


def tables_by_task(
    run: RecordedRun, names: Sequence[str] = ()
) -> dict[str, list[Table]]:
    """Return the tables of the named tasks, or of all in the run.

    Raises:
        NoInput: a wanted task has no row in the run.
    """
    by_task = {
        name: [table for table in _tables(run, name, task) if table.rows]
        for name, task in _tasks(run, names).items()
    }
    if not run.suite:
        by_task = {name: _paired_first(run, name, by_task[name]) for name in by_task}
    for name, tables in by_task.items():
        if matrix := schema_matrix(run, name):
            tables.append(matrix)
    if len(by_task) == 1:
        return by_task
    return {
        name: [replace(table, task=name) for table in tables]
        for name, tables in by_task.items()
    }


def _tasks(run: RecordedRun, names: Sequence[str]) -> dict[str, Task | None]:
    """Return the tasks of a run whose tables are wanted; None if not installed here.

    Raises:
        NoInput: as `tables_by_task` does.
    """
    from evaluation.tasks import named_alike, tasks  # noqa: PLC0415 (late)

    known_tasks: Mapping[str, Task] = {
        name: task for name in run.tasks if (task := named_alike(name)) is not None
    }
    if known_tasks.keys() != set(run.tasks) or any(
        task.needs_model for task in known_tasks.values()
    ):
        known_tasks = tasks()
    reading = {task.name for task in known_tasks.values() if task.reads in run.tasks}
    available = sorted({*run.tasks, *reading})
    for name in names:
        if name not in available:
            listing = ", ".join(available) or "no task at all"
            raise NoInput(
                f"no row of task {name!r}", str(run.folder), f"it has {listing}"
            )
    return {name: known_tasks.get(name) for name in names or available}


def _tables(run: RecordedRun, name: str, task: Task | None) -> Iterable[Table]:
    """Return the tables of a suite or task, or the common ones."""
    if not run.suite:
        return task.tables(run) if task else tables_of_any(run.attempts(name))
    from evaluation.results.suite_rows import scored_run  # noqa: PLC0415 (of suites)
    from evaluation.results.suite_tables import suite_tables  # noqa: PLC0415 (of suites)
    from evaluation.suites.registry import recorded_suite  # noqa: PLC0415 (imports every suite)

    try:
        suite = recorded_suite(str(run.suite.get("spec")))
    except CsbdataError:
        # It is not installed here.
        return tables_of_any(run.attempts(name))
    return suite_tables(suite, scored_run(run, name))


def most_telling(by_task: Mapping[str, Sequence[Table]]) -> list[Table]:
    """Return all tables in the order in which people want them on one screen.

    The first of every task come before the second ones. First is the outcome of each
    schema where these are few, then rates, then pairs and the rest.
    """
    return in_turns(
        sorted(
            tables,
            key=lambda table: (table.slug != BY_SCHEMA, table.columns[:1] == ("a",)),
        )
        for tables in by_task.values()
    )


def _paired_first(run: RecordedRun, task: str, tables: Sequence[Table]) -> list[Table]:
    """Return tables that begin with the comparison of every two engines.

    It is made on what both were asked; after it come the rates, then the times of a
    task whose times are results.
    """
    if sum(name == task for _, name in run.row_counts) < 2:  # noqa: PLR2004 (a pair)
        return [*tables]
    from evaluation.analysis import compare_runs as compared  # noqa: PLC0415 (of pairs)

    pairs = compared.all_pairs(compared.compared_engines([run], task))
    times = compared.times_tables(pairs) if compared.is_timed(task) else ()
    return [*compared.paired_shares(pairs), *tables[:1], *times, *tables[1:]]


def schema_matrix(run: RecordedRun, task: str) -> Table | None:
    """Return the outcome of each schema under each participant, a line a schema.

    None without any, and if there are more schemas than a screen has lines.
    """
    engines = [engine for engine, name in run.row_counts if name == task]
    findings: dict[str, dict[str, str]] = defaultdict(dict)
    for row in run.rows(task):
        name = f"{row.config}/{row.id}".removeprefix("/")
        findings[name][row.engine] = _make_finding(run, row)
        if len(findings) > _MAX_SCHEMAS:
            return None
    if not findings:
        return None
    return Table(
        title="By schema",
        columns=("schema", *engines),
        rows=tuple(
            (name, *(by_engine.get(engine) for engine in engines))
            for name, by_engine in findings.items()
        ),
        note="In brackets the keyword of the first text that is judged wrong, or of "
        "the refusal.",
        name=BY_SCHEMA,
    )


def _make_finding(run: RecordedRun, row: Row) -> str:
    outcome = read_outcome(row)
    if outcome is Outcome.UNTESTED:
        return "compiles"
    words = outcome.replace("_", " ")
    keyword = ""
    if outcome is Outcome.NOT_COMPLIANT:
        words = (text_class(row) or words).replace("_", " ")
        keyword = text_keyword(row)
    elif row.result is Result.COMPILE_ERROR:
        name = run.header.names().get(row.engine, row.engine)
        refusals = run.header.participant(row.engine).refusals
        keyword = min(refused_keywords(name, row.detail, refusals), default="")
    else:
        wrong = next((walk for walk in row.walks if engine_is_wrong(walk)), None)
        keyword = wrong.why.keyword if wrong and wrong.why else ""
    return f"{words} ({keyword})" if keyword else words
