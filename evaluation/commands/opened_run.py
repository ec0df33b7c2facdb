"""A run that a command was given, opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.stores.object_store import is_url
from curation.system.terminal import say

if TYPE_CHECKING:
    from evaluation.results.reader import RecordedRun


#: A run of `csbdata eval` or of a suite, wherever it is.
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="The folder of a run, or its URL.")
]
#: The same of several.
RunsArgument = Annotated[
    list[str],
    typer.Argument(metavar="RUN...", help="Folders of runs, or their URLs."),
]


def folder_of(place: str) -> Path:
    """Return the folder of a run; one at a URL is copied into the cache first.

    Raises:
        NoInput: there is no run at the URL (exit 66).
        CsbdataError: the store cannot be read.
    """
    if not is_url(place):
        return Path(place)
    from curation.download.acquire import FetchSettings
    from evaluation.stored_runs.stored_copy import copy_run

    return copy_run(place, FetchSettings.from_environment().cache)


def open_and_report_problems(place: str) -> RecordedRun:
    """Open a run, and print which of its rows could not be read.

    Args:
        place: Its folder, or its URL.

    Raises:
        NoInput: there is no run.
        BadData: its header cannot be read.
    """
    from evaluation.results.reader import open_run

    run = open_run(folder_of(place))
    for problem in run.problems[:5]:
        say(f"left out, no row: {problem}", style="yellow")
    if len(run.problems) > 5:  # noqa: PLR2004 (the ones above)
        say(f"... and {len(run.problems) - 5:,} more", style="yellow")
    return run
