"""The report of a run: the tables of each task."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from curation.system.errors import CsbdataError, NoInput
from evaluation.core.cases import Result, Row
from evaluation.reporting.tables import Table, in_turns
from evaluation.results.outcomes import Outcome, engine_is_wrong, outcome_of, text_class
from evaluation.results.overview import overview
from evaluation.results.refusal_messages import explain
from evaluation.results.suite_rows import SUITE, is_suite_run, scored_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.core.task import Task
    from evaluation.reporting.report import Report
    from evaluation.results.reader import RecordedRun

#: The name of the table of `schema_matrix`.
BY_SCHEMA: Final = "by-schema"
#: The most schemas that have a line each in it.
_MOST_SCHEMAS: Final = 20


def reports(run: RecordedRun, names: Sequence[str] = ()) -> dict[str, Report]:
    """Return the reports of the named tasks, or of all in the run.

    A task that is not installed here gets the overview of any task.

    Raises:
        NoInput: a wanted task has no row in the run.
    """
    from evaluation.tasks.registry import named_alike, tasks  # noqa: PLC0415 (late)

    known_tasks: Mapping[str, Task] = {
        name: task for name in run.tasks if (task := named_alike(name)) is not None
    }
    if known_tasks.keys() != set(run.tasks) or any(
        task.needs_model for task in known_tasks.values()
    ):
        known_tasks = tasks()
    reading = {task.name for task in known_tasks.values() if task.reads in run.tasks}
    available = sorted({*run.tasks, *reading})
    if run.header.models.random_weights:
        judging = {task.name for task in known_tasks.values() if task.judges_texts}
        available = [name for name in available if name not in judging]
    for name in names:
        if name not in available:
            listing = ", ".join(available) or "no task at all"
            raise NoInput(
                f"no row of task {name!r}", str(run.folder), f"it has {listing}"
            )
    by_task = {
        name: _suite_report(run, name)
        if is_suite_run(run.raw_header)
        else _paired_first(
            run,
            name,
            known_tasks[name].report(run)
            if name in known_tasks
            else overview(run, name),
        )
        for name in names or available
    }
    for name, report in by_task.items():
        if matrix := schema_matrix(run, name):
            by_task[name] = replace(report, tables=(*report.tables, matrix))
    if len(by_task) == 1:
        return by_task
    return {
        name: replace(
            report, tables=tuple(replace(table, task=name) for table in report.tables)
        )
        for name, report in by_task.items()
    }


def most_telling(reports: Mapping[str, Report]) -> list[Table]:
    """Return all tables in the order in which people want them on one screen.

    The first of every task come before the second ones. First is the outcome of each
    schema where these are few, then rates, then pairs and the rest.
    """
    by_task = (
        sorted(
            reports[name].tables,
            key=lambda table: (table.slug != BY_SCHEMA, table.columns[:1] == ("a",)),
        )
        for name in reports
    )
    return in_turns(by_task)


def _paired_first(run: RecordedRun, task: str, report: Report) -> Report:
    """Return a report that begins with the comparison of every two engines.

    It is made on what both were asked; after it come the rates, then the times of a
    task whose times are results.
    """
    if sum(name == task for _, name in run.row_counts) < 2:  # noqa: PLR2004 (a pair)
        return report
    from evaluation.analysis import compare_runs as compared  # noqa: PLC0415 (of pairs)

    pairs = compared.all_pairs(compared.compared_engines([run], task))
    times = compared.times_tables(pairs) if compared.is_timed(task) else ()
    rates, rest = report.tables[:1], report.tables[1:]
    return replace(
        report, tables=(*compared.paired_shares(pairs), *rates, *times, *rest)
    )


def _suite_report(run: RecordedRun, name: str) -> Report:
    from evaluation.results.suite_tables import suite_report  # noqa: PLC0415 (of suites)
    from evaluation.suites.registry import recorded_suite  # noqa: PLC0415 (imports every suite)

    try:
        suite = recorded_suite(str(run.raw_header[SUITE].get("spec")))
    except CsbdataError:
        return overview(run, name)
    return suite_report(suite, scored_run(run, name))


def schema_matrix(run: RecordedRun, task: str) -> Table | None:
    """Return the outcome of each schema under each participant, a line a schema.

    None without any, and if there are more schemas than a screen has lines.
    """
    findings: dict[str, dict[str, str]] = {}
    engines: dict[str, None] = {}
    for row in run.rows(task):
        engines[row.engine] = None
        name = f"{row.config}/{row.id}" if row.config else row.id
        findings.setdefault(name, {})[row.engine] = _finding_of(run, row)
        if len(findings) > _MOST_SCHEMAS:
            return None
    if not findings:
        return None
    return Table(
        title="By schema",
        columns=("schema", *engines),
        rows=tuple(
            (name, *(own.get(engine) for engine in engines))
            for name, own in findings.items()
        ),
        note="In brackets the keyword of the first text that is judged wrong, or of "
        "the refusal.",
        name=BY_SCHEMA,
    )


def _finding_of(run: RecordedRun, row: Row) -> str:
    outcome = outcome_of(row)
    if outcome is Outcome.UNTESTED:
        return "compiles"
    words, keyword = outcome.replace("_", " "), ""
    if outcome is Outcome.NOT_COMPLIANT:
        judged = row.label.get("judgement")
        words = (text_class(row) or words).replace("_", " ")
        keyword = str((judged.get("keyword") if isinstance(judged, dict) else "") or "")
    elif row.result is Result.COMPILE_ERROR:
        name = run.header.names().get(row.engine, row.engine)
        own = run.header.participant(row.engine).refusals
        refusal = explain(name, row.detail, own)
        keyword = min(refusal.keywords, default="") if refusal else ""
    else:
        wrong = next((walk for walk in row.walks if engine_is_wrong(walk)), None)
        keyword = wrong.why.keyword if wrong and wrong.why else ""
    return f"{words} ({keyword})" if keyword else words
