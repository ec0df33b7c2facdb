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
    read_outcome,
    text_class,
    text_keyword,
)
from evaluation.results.suite_rows import ask_again

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.results.reader import RecordedRun

#: The unconstrained engine: the control.
CONTROL: Final = "none"
_CASE: Final = ["engine", "task", "config", "id"]
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
    passed = {*run.frame().filter("passed").select(_CASE).iter_rows()}
    failed = [
        failure
        for row in run.rows()
        if row.engine in selected
        and (not only or row.task in only)
        and (row.engine, row.task, row.config, row.id) not in passed
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
    outcome = read_outcome(row)
    if outcome not in SEVERITY:
        return None
    culprits = [walk for walk in row.walks if engine_is_wrong(walk)]
    shortest = min(culprits, key=lambda walk: walk.tokens, default=None)
    return FailedCase(
        engine=row.engine,
        task=row.task,
        config=row.config,
        id=row.id,
        outcome=outcome,
        detail=_detail_of(row, shortest),
        tokens=shortest.tokens if shortest else 0,
        size=number_in(row, "size", 0),
    )


def _detail_of(row: Row, shortest: InstanceResult | None) -> str:
    """Return what exactly was seen: of a walk, of a model's text, or of the engine."""
    text = text_class(row)
    if shortest and not row.detail:
        return _walk_failure(shortest)
    if text is not None:
        words = [text.replace("_", " "), text_keyword(row), row.detail]
    else:
        words = [row.phase, row.detail]
    return ": ".join(filter(None, words))


def _walk_failure(walked: InstanceResult) -> str:
    kind = "valid" if walked.valid else "invalid"
    named = [str(walked.label[name]) for name in _NAMES if walked.label.get(name)]
    description = f"{kind} text"
    if named:
        description += f" ({', '.join(named)})"
    if walked.verdict is WalkVerdict.ACCEPTED:
        return f"{description} accepted to its end"
    if walked.verdict is WalkVerdict.UNFINISHED:
        return f"{description} may not end after its last token"
    description += f" {walked.verdict}"
    if walked.at is not None:
        description += f" at token {walked.at + 1} of {walked.tokens}"
    return ": ".join(filter(None, (description, walked.detail)))


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
    names = {run.header.names().get(engine, engine) for engine, _ in run.row_counts}
    notes = []
    if len(rows) < len(failed):
        notes.append(f"{len(failed) - len(rows):,} more: --format json.")
    if control_apart and CONTROL in names:
        notes.append(
            "The control, under which everything may be written, is left out: "
            f"--engine {CONTROL}."
        )
    return Table(
        title=f"Failures: {len(rows):,} of {len(failed):,}, the worst first",
        name="failures",
        columns=("outcome", "engine", "task", "schema", "seen", "to see it again"),
        rows=rows,
        note=" ".join(notes),
        commands=("to see it again",),
    )
