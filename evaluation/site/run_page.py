"""The page of a run: its tables and plots, and its worst failures."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.system.atomic_files import atomic_write_bytes
from evaluation.analysis.failures import failures, failures_table
from evaluation.analysis.plots import notice_of, svg_of
from evaluation.analysis.run_report import conditions_of, engines_of, reports
from evaluation.results.description import describe
from evaluation.site.rendering import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evaluation.reporting.report import Plot, Report
    from evaluation.reporting.tables import Table
    from evaluation.results.reader import RecordedRun

_FAILURES: Final = 100
#: Tables of a section that are open; the others are shown at a click.
_SHOWN: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the page."""

    title: str
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()


def write_page(run: RecordedRun, path: Path) -> Path:
    """Write the page of a run; returns the file.

    Raises:
        CannotCreate: it cannot be written.
    """
    atomic_write_bytes(path, page(run).encode())
    return path


def page(run: RecordedRun) -> str:
    """Return the page of a run."""
    return _rendered(run.folder.resolve().name, [run], _sections(run, reports(run)))


def write_joined_page(
    runs: Sequence[RecordedRun], title: str, report: Report, path: Path
) -> None:
    """Write one page of several runs, whose report is given.

    Raises:
        CannotCreate: it cannot be written.
    """
    parts = [
        Section(
            title=f"Run {run.folder.resolve().name}",
            tables=(conditions_of(run), engines_of(run)),
        )
        for run in runs
    ]
    main = Section(title=title, tables=report.tables, plots=report.plots)
    atomic_write_bytes(path, _rendered(title, runs, [main, *parts]).encode())


def _rendered(title: str, runs: Sequence[RecordedRun], parts: Sequence[Section]) -> str:
    notice = [line for run in runs for line in notice_of(run)]
    about = [line for run in runs for line in describe(run.header)]
    page = render(
        "page.html",
        "run",
        title=title,
        notice=notice,
        about=[line for line in about if line not in notice],
        shown=_SHOWN,
        sections=parts,
        picture=_picture,
    )
    return page.content.decode()


def _sections(run: RecordedRun, by_task: Mapping[str, Report]) -> list[Section]:
    """Return the parts of the page: the run, each task, the failures."""
    worst = failures(run, list(by_task))
    return [
        Section(title="Run", tables=(conditions_of(run), engines_of(run))),
        *(
            Section(title=f"Task {name}", tables=report.tables, plots=report.plots)
            for name, report in by_task.items()
        ),
        Section(title="Failures", tables=(failures_table(run, worst, _FAILURES),)),
    ]


def _picture(plot: Plot) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg_of(plot)).decode()}"
