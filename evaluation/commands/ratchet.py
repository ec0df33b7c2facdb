"""`csbdata results ratchet`: hold a run against a file of outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.commands.options import local_path, with_option_groups
from curation.system.terminal import say
from curation.system.words import counted
from evaluation.commands.opened_run import RunArgument, open_and_report_problems
from evaluation.commands.show_run import SHOWN
from evaluation.reporting.printing import ReportFormat, ReportFormatOption, print_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.analysis.ratchet import Place
    from evaluation.analysis.regression_gate import CaseStanding


@dataclass(frozen=True, slots=True, kw_only=True)
class RatchetOptions:
    """Whether the file is written, and what of the run is held against it."""

    update: Annotated[
        bool,
        typer.Option(
            "--update",
            help="Write FILE anew with what is better and what is new; what is worse "
            "stays as it was.",
        ),
    ] = False
    accept_worse: Annotated[
        bool,
        typer.Option(
            "--accept-worse", help="With --update: write all as it is now, and exit 0."
        ),
    ] = False
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Which engine, of a run of several; by name or label."
        ),
    ] = None
    task: Annotated[
        list[str] | None,
        typer.Option(metavar="TASK", help="Only this task; repeatable."),
    ] = None


@with_option_groups
def ratchet(
    *,
    run: RunArgument,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The ratchet, one line a schema.", parser=local_path
        ),
    ],
    options: RatchetOptions,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Hold a run against a file with the outcome of every schema, one line each.

    Example: csbdata results ratchet runs/4f1c22a09b3e ratchet.tsv

    Example: csbdata results ratchet runs/4f1c22a09b3e ratchet.tsv --update

    Exits with 0 if no schema is worse than FILE says and none is missing, with 1 if one
    is, with 65 if FILE is no ratchet, with 66 if there is none yet (--update makes it).
    Outcomes are ordered as by `csbdata results compare --fail-under`.
    """
    from evaluation.analysis.ratchet import (
        difference_table,
        hold_against,
        read_ratchet,
        undecided_places,
    )
    from evaluation.analysis.ratchet import outcomes_by_place as outcomes_of

    if options.accept_worse and not options.update:
        raise typer.BadParameter("wants --update", param_hint="--accept-worse")
    opened_run = open_and_report_problems(run)
    tasks = options.task or []
    label, now = outcomes_of(opened_run, options.engine, tasks)
    fresh = options.update and not file.exists()
    before = {} if fresh else read_ratchet(file)
    undecided = undecided_places(opened_run, label)
    undecided |= {place for place in before if tasks and place[0] not in tasks}
    difference = hold_against(before, now, undecided)
    print_tables(
        [difference_table(difference, SHOWN if format_ is ReportFormat.AUTO else None)],
        format_,
        {"ratchet": difference.summary()},
    )
    if options.update:
        participant = opened_run.header.participant(label)
        about = f"{participant.name or label} {participant.preset or ''}"
        both = difference.tightened, difference.accepted
        _write(file, both[options.accept_worse], about)
    if difference.holds or fresh or options.accept_worse:
        say(f"the ratchet holds: {difference.summary()}", style="green")
        if not options.update and (difference.better or difference.new):
            say("--update writes what is better and new")
        return
    say(f"the ratchet fails: {difference.summary()}", style="red")
    raise typer.Exit(1)


def _write(file: Path, outcomes: Mapping[Place, CaseStanding], about: str) -> None:
    from evaluation.analysis.ratchet import write_ratchet

    write_ratchet(file, outcomes, about)
    say(f"{counted(len(outcomes), 'schema')} in {file}")
