"""A run that a command was given, opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.commands.options import local_path
from curation.system.terminal import say

if TYPE_CHECKING:
    from evaluation.results.reader import RecordedRun


#: A run of `csbdata eval` or of a suite.
RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder of a run.", parser=local_path)
]
#: The same of several.
RunsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="RUN...", help="Folders of runs.", parser=local_path),
]


def open_and_report_problems(folder: Path) -> RecordedRun:
    """Open a run, and print which of its rows could not be read.

    Args:
        folder: Its folder.

    Raises:
        NoInput: there is no run.
        BadData: its header cannot be read.
    """
    from evaluation.results.reader import open_run

    run = open_run(folder)
    for problem in run.problems[:5]:
        say(f"left out, no row: {problem}", style="yellow")
    if len(run.problems) > 5:  # noqa: PLR2004 (the ones above)
        say(f"... and {len(run.problems) - 5:,} more", style="yellow")
    return run
