"""The report of a run: who took part, each task's tables, and the worst failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.system.errors import CsbdataError, NoInput
from evaluation.core.cases import WalkVerdict
from evaluation.reporting.tables import Table
from evaluation.results.completeness import gaps_of
from evaluation.results.labels import number_in
from evaluation.results.outcomes import Outcome, engine_is_wrong, outcome_of, text_class
from evaluation.results.overview import overview
from evaluation.results.suite_rows import SUITE, scored_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json
    from evaluation.core.cases import InstanceResult, Row
    from evaluation.core.run_header import ParticipantHeader
    from evaluation.reporting.report import Report
    from evaluation.reporting.tables import Cell
    from evaluation.results.reader import RecordedRun

#: Worst first: what kills a server, then what is wrong, then what is only refused.
SEVERITY = (
    Outcome.CRASH,
    Outcome.OUT_OF_MEMORY,
    Outcome.TIMEOUT,
    Outcome.PROTOCOL_ERROR,
    Outcome.ERROR,
    Outcome.LIED,
    Outcome.WRONG_BOTH_WAYS,
    Outcome.UNDER_CONSTRAINED,
    Outcome.OVER_CONSTRAINED,
    Outcome.NOT_COMPLIANT,
    Outcome.COMPILE_ERROR,
)


#: What of a header decides whether another run may be compared with this one.
_CONDITIONS = (
    "csbdata",
    "data",
    "tokenizer",
    "limits",
    "settings",
    "limit",
    "shard",
    "machine",
    "governor",
    "started",
)


def engines_of(run: RecordedRun) -> Table:
    """Return who took part, with versions, presets and options."""
    rows = [_engine(participant) for participant in run.header.engines]
    return Table(
        title="Engines",
        columns=("engine", "version", "preset", "options", "remark"),
        rows=tuple(rows),
    )


def _engine(participant: ParticipantHeader) -> tuple[Cell, ...]:
    options = participant.options or {}
    remark = participant.unavailable
    if remark and participant.install:
        remark = f"{remark}; {participant.install}"
    return (
        participant.engine,
        participant.version,
        participant.preset,
        ", ".join(f"{name}={value}" for name, value in options.items()),
        f"not run: {remark}" if remark else "",
    )


def conditions_of(run: RecordedRun) -> Table:
    """Return what decides whether another run may be compared with this one."""
    header = run.raw_header
    rows: list[tuple[Cell, ...]] = [
        (name, _flat(header.get(name))) for name in _CONDITIONS
    ]
    if run.header.timer_ns is not None:
        rows.append(("timer", f"{run.header.timer_ns:,} ns a reading"))
    rows.append(("units", f"{len(run):,}"))
    rows += [("lacks", gap) for gap in gaps_of(run)]
    return Table(title="Run", columns=("what", "value"), rows=tuple(rows))


def _flat(value: Json) -> str | None:
    """Return a part of a header on one line, its members by their names."""
    if isinstance(value, dict):
        members = {name: _flat(member) for name, member in value.items()}
        parts = [f"{name} {text}" for name, text in members.items() if text]
        return ", ".join(parts) or None
    return None if value is None else str(value)


def reports(run: RecordedRun, wanted: Sequence[str] = ()) -> dict[str, Report]:
    """Return each task's report, of those wanted or else of all in the run.

    A task that is not installed here has the overview that every task has.

    Raises:
        NoInput: a wanted task has no row in the run.
    """
    from evaluation.tasks.registry import tasks  # noqa: PLC0415 (imports every task)

    known_tasks = tasks()
    suite = suite_of(run)
    reading = {task.name for task in known_tasks.values() if task.reads in run.tasks}
    there = sorted({*run.tasks, *reading})
    for name in wanted:
        if name not in there:
            known = ", ".join(there) or "no task at all"
            raise NoInput(
                f"no unit of task {name!r}", str(run.folder), f"it has {known}"
            )
    return {
        name: _suite_report(run, suite, name)
        if suite is not None
        else known_tasks[name].report(run)
        if name in known_tasks
        else overview(run, name)
        for name in wanted or there
    }


def suite_of(run: RecordedRun) -> str | None:
    """Return the name or the path of a run's suite; None if it is no suite's run."""
    facts = run.raw_header.get(SUITE)
    return str(facts.get("spec")) if isinstance(facts, dict) else None


def _suite_report(run: RecordedRun, suite: str, name: str) -> Report:
    """Return the report of a suite; one that is not here has the overview."""
    from evaluation.suites.registry import suite_named  # noqa: PLC0415 (imports every suite)

    try:
        found = suite_named(suite)
    except CsbdataError:
        return overview(run, name)
    return found.report(scored_run(run, name, run.raw_header))


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCase:
    """One case that is not as it should be."""

    engine: str
    task: str
    config: str
    id: str
    outcome: Outcome
    #: What exactly was seen.
    detail: str
    #: Tokens of the shortest text that shows it; 0 where compiling does.
    tokens: int
    #: Characters of the schema; 0 where the task does not say.
    size: int


def failures(run: RecordedRun, wanted: Sequence[str] = ()) -> list[FailedCase]:
    """Return every failure of the tasks wanted (or all), the worst first.

    What its task lets pass is none, such as a refusal of a schema that nothing fits.
    Among equals those with the shortest texts come first: they are read soonest.
    """
    from evaluation.tasks.registry import tasks  # noqa: PLC0415 (imports every task)

    passes = {name: task.passes for name, task in tasks().items() if task.passes}
    found = [
        failure
        for row in run.rows()
        if not wanted or row.task in wanted
        if row.task not in passes or not passes[row.task](row)
        for failure in _failure(row)
    ]
    return sorted(
        found,
        key=lambda failure: (
            SEVERITY.index(failure.outcome),
            failure.tokens,
            failure.size,
            failure.engine,
            failure.config,
            failure.id,
        ),
    )


def _failure(row: Row) -> Iterator[FailedCase]:
    what = outcome_of(row)
    if what not in SEVERITY:
        return
    culprits = [walk for walk in row.walks if engine_is_wrong(walk)]
    shortest = min(culprits, key=lambda walk: walk.tokens, default=None)
    phase = f"{row.phase}: " if row.phase else ""
    yield FailedCase(
        engine=row.engine,
        task=row.task,
        config=row.config,
        id=row.id,
        outcome=what,
        detail=_walk_failure(shortest)
        if row.detail == "" and shortest
        else _text_failure(row) or phase + row.detail,
        tokens=shortest.tokens if shortest else 0,
        size=number_in(row, "size", 0),
    )


def _text_failure(row: Row) -> str:
    """Return what is wrong with the text that a model wrote; empty where none did."""
    text = text_class(row)
    if text is None:
        return ""
    judged = row.label.get("judgement")
    keyword = judged.get("keyword") if isinstance(judged, dict) else None
    parts = [text.replace("_", " "), *(str(e) for e in (keyword, row.detail) if e)]
    return ": ".join(parts)


def _walk_failure(walked: InstanceResult) -> str:
    """Return what an engine did with a text that it should not have done."""
    kind = "valid" if walked.valid else "invalid"
    named = [str(walked.label[name]) for name in _NAMES if walked.label.get(name)]
    what = f"{kind} text ({', '.join(named)})" if named else f"{kind} text"
    if walked.verdict is WalkVerdict.ACCEPTED:
        return f"{what} accepted to its end"
    if walked.verdict is WalkVerdict.UNFINISHED:
        return f"{what} may not end after its last token"
    at = "" if walked.at is None else f" at token {walked.at + 1} of {walked.tokens}"
    return f"{what} {walked.verdict}{at}" + (
        f": {walked.detail}" if walked.detail else ""
    )


_NAMES = ("kind", "keyword", "pointer", "description")


def failures_table(run: RecordedRun, found: Sequence[FailedCase], limit: int) -> Table:
    """Return the worst failures, each with the command that shows it again."""
    from evaluation.execution.reproducers import rerun_command  # noqa: PLC0415 (imports the driver)

    rows = tuple(
        (
            failure.outcome.replace("_", " "),
            failure.engine,
            failure.task,
            f"{failure.config}/{failure.id}",
            failure.detail,
            rerun_command(
                run.header, failure.engine, failure.task, failure.config, failure.id
            ),
        )
        for failure in found[:limit]
    )
    left = len(found) - len(rows)
    return Table(
        title=f"Failures: {len(rows):,} of {len(found):,}, the worst first",
        name="failures",
        columns=("outcome", "engine", "task", "schema", "seen", "to see it again"),
        rows=rows,
        note=f"csbdata results shrink {run.folder} SCHEMA finds the smallest part that "
        "still fails." + (f" {left:,} more: --limit {len(found)}" if left else ""),
    )
