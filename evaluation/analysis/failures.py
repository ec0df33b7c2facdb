"""The failures of a run, the worst first; the control's are separate."""

from __future__ import annotations

import shlex
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.system.errors import NoInput
from evaluation.core.cases import InstanceResult, Row, WalkVerdict
from evaluation.reporting.tables import Table
from evaluation.results.outcomes import (
    RANKS,
    Outcome,
    engine_is_wrong,
    number_in,
    outcome_of,
    text_class,
)
from evaluation.results.suite_rows import ask_again

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.results.reader import RecordedRun

#: The unconstrained engine: the control.
CONTROL: Final = "none"
#: Worst first: crashes, then wrong outcomes, then rejections.
SEVERITY = [outcome for rank in reversed(RANKS[1:]) for outcome in rank]


class FailedCase(NamedTuple):
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
    #: Characters of the schema; 0 if the task does not record it.
    size: int
    #: How many others of its engine crashed with the same words.
    others: int = 0


def failures(
    run: RecordedRun, only: Sequence[str] = (), engines: Sequence[str] = ()
) -> list[FailedCase]:
    """Return failures of a run, the worst first, the shortest texts first.

    Of crashes of an engine with the same words only the first.

    A case that its task lets pass is not a failure, such as a rejected schema that
    nothing satisfies.

    Args:
        run: The run.
        only: Tasks; empty for all.
        engines: Labels of engines, or their names without version; empty for all but
            the control.

    Raises:
        NoInput: the run has no such engine.
    """
    from evaluation.tasks import tasks  # noqa: PLC0415 (imports every task)

    names = run.header.names()
    aliases = {label: {label, names.get(label, label)} for label, _ in run.row_counts}
    if unknown := set(engines).difference(*aliases.values()):
        raise NoInput(
            f"no row of engine {min(unknown)!r}",
            str(run.folder),
            f"it has {', '.join(sorted(aliases))}",
        )
    selected = {
        label
        for label, called in aliases.items()
        if (called & {*engines} if engines else CONTROL not in called)
    }
    passes = {name: task.passes for name, task in tasks().items() if task.passes}
    failed = [
        failure
        for row in run.rows()
        if row.engine in selected
        and (not only or row.task in only)
        and (row.task not in passes or not passes[row.task](row))
        and (failure := _failure(row))
    ]
    failed.sort(
        key=lambda failure: (
            SEVERITY.index(failure.outcome),
            failure.tokens,
            failure.size,
            failure.engine,
            failure.config,
            failure.id,
        ),
    )
    crashes: dict[tuple[str, str], list[FailedCase]] = defaultdict(list)
    for failure in failed:
        if failure.outcome is Outcome.CRASH:
            crashes[failure.engine, failure.detail].append(failure)
    once = [
        crashed[0]._replace(others=len(crashed) - 1) for crashed in crashes.values()
    ]
    # Nothing is worse than a crash, in the order above.
    return [*once, *(case for case in failed if case.outcome is not Outcome.CRASH)]


def _failure(row: Row) -> FailedCase | None:
    outcome = outcome_of(row)
    if outcome not in SEVERITY:
        return None
    culprits = [walk for walk in row.walks if engine_is_wrong(walk)]
    shortest = min(culprits, key=lambda walk: walk.tokens, default=None)
    phase = f"{row.phase}: " if row.phase else ""
    return FailedCase(
        engine=row.engine,
        task=row.task,
        config=row.config,
        id=row.id,
        outcome=outcome,
        detail=_walk_failure(shortest)
        if row.detail == "" and shortest
        else _text_failure(row) or phase + row.detail,
        tokens=shortest.tokens if shortest else 0,
        size=number_in(row, "size", 0),
    )


def _text_failure(row: Row) -> str:
    text = text_class(row)
    if text is None:
        return ""
    judged = row.label.get("judgement")
    keyword = judged.get("keyword") if isinstance(judged, dict) else None
    parts = [text.replace("_", " "), *(str(e) for e in (keyword, row.detail) if e)]
    return ": ".join(parts)


def _walk_failure(walked: InstanceResult) -> str:
    kind = "valid" if walked.valid else "invalid"
    named = [str(walked.label[name]) for name in _NAMES if walked.label.get(name)]
    description = f"{kind} text ({', '.join(named)})" if named else f"{kind} text"
    if walked.verdict is WalkVerdict.ACCEPTED:
        return f"{description} accepted to its end"
    if walked.verdict is WalkVerdict.UNFINISHED:
        return f"{description} may not end after its last token"
    at = "" if walked.at is None else f" at token {walked.at + 1} of {walked.tokens}"
    return f"{description} {walked.verdict}{at}" + (
        f": {walked.detail}" if walked.detail else ""
    )


_NAMES = ("kind", "keyword", "pointer", "description")


def shrinking_command(run: RecordedRun, failure: FailedCase) -> str:
    """Return the command that finds the smallest part of a schema that still fails."""
    words = ["csbdata", "results", "shrink", str(run.folder.resolve())]
    words += [f"{failure.config}/{failure.id}", "--task", failure.task]
    return shlex.join([*words, "--engine", failure.engine])


def failures_table(
    run: RecordedRun,
    failed: Sequence[FailedCase],
    limit: int | None,
    *,
    control_apart: bool,
) -> Table:
    """Return the worst failures, each with the command that reproduces it.

    Runs made without a command line show ids instead.

    Args:
        run: The run.
        failed: Its failures, the worst first.
        limit: Most of them that are shown; None for all.
        control_apart: Whether the control's failures were left out.
    """
    from evaluation.core.run_header import rerun_command  # noqa: PLC0415 (imports the driver)
    from evaluation.masks.run_folder import RECORDS  # noqa: PLC0415 (as above)

    rows = tuple(
        (
            failure.outcome.replace("_", " "),
            failure.engine,
            failure.task,
            f"{failure.config}/{failure.id}",
            failure.detail + (f" ({failure.others:,} more)" if failure.others else ""),
            ask_again(run.raw_header, run.folder / RECORDS, failure.config, failure.id)
            if run.suite
            else rerun_command(
                run.header, failure.engine, failure.task, failure.config, failure.id
            ),
        )
        for failure in failed[:limit]
    )
    hidden = len(failed) - len(rows)
    remark = f"{hidden:,} more: --format json." if hidden else ""
    names = {run.header.names().get(engine, engine) for engine, _ in run.row_counts}
    apart = (
        "The control, under which everything may be written, is left out: "
        f"--engine {CONTROL}."
        if control_apart and CONTROL in names
        else ""
    )
    return Table(
        title=f"Failures: {len(rows):,} of {len(failed):,}, the worst first",
        name="failures",
        columns=("outcome", "engine", "task", "schema", "seen", "to see it again"),
        rows=rows,
        note=" ".join(filter(None, (remark, apart))),
        commands=("to see it again",),
    )
