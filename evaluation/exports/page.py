"""One self-contained page of a run: the tables, the plots, the worst failures.

No script, nothing fetched from elsewhere: styles are inside and plots are embedded.
Everything that comes from data is escaped by the template (autoescape), after its
control characters were made visible.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined

from curation.system.atomic_files import atomic_write_bytes
from curation.system.escaping import safe
from evaluation.analysis.failures import FailureChoice, failures, failures_table
from evaluation.analysis.run_report import conditions_of, engines_of, reports
from evaluation.exports.notice import notice_of
from evaluation.reporting.tables import text_of
from evaluation.results.description import describe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evaluation.reporting.report import Plot, Report
    from evaluation.reporting.tables import Cell, Table
    from evaluation.results.reader import RecordedRun

_TEMPLATE = "page.html.jinja"
_FAILURES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the page."""

    #: Its anchor.
    slug: str
    title: str
    tables: Sequence[Table]
    plots: Sequence[Plot] = ()


def write_page(run: RecordedRun, path: Path, tasks: Sequence[str] = ()) -> Path:
    """Write the page of a run; returns the file.

    Raises:
        NoInput: a wanted task has no row in the run.
        CannotCreate: it cannot be written.
    """
    atomic_write_bytes(path, page(run, tasks).encode())
    return path


def page(run: RecordedRun, tasks: Sequence[str] = ()) -> str:
    """Return the page of a run.

    Raises:
        NoInput: a wanted task has no row in the run.
    """
    name = run.folder.resolve().name
    return _rendered(name, [run], sections(run, reports(run, tasks)))


def write_joined_page(
    runs: Sequence[RecordedRun], title: str, report: Report, path: Path
) -> Path:
    """Write one page of several runs, whose report is given; returns the file.

    Raises:
        CannotCreate: it cannot be written.
    """
    parts = [
        Section(
            slug=f"run-{number}",
            title=f"Run {safe(run.folder.resolve().name)}",
            tables=(conditions_of(run), engines_of(run)),
        )
        for number, run in enumerate(runs, 1)
    ]
    main = Section(slug="report", title=title, tables=report.tables, plots=report.plots)
    text = _rendered(title, runs, [main, *parts])
    atomic_write_bytes(path, text.encode())
    return path


def _rendered(name: str, runs: Sequence[RecordedRun], parts: Sequence[Section]) -> str:
    """Return the page of some runs with these sections."""
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"shown": _shown, "picture": _picture, "side": _side}
    template = environment.from_string(
        files("evaluation.exports").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    )
    return template.render(
        name=safe(name),
        notice=[safe(line) for run in runs for line in notice_of(run)],
        about=[safe(line) for run in runs for line in describe(run.header)],
        sections=parts,
    )


def sections(run: RecordedRun, found: Mapping[str, Report]) -> list[Section]:
    """Return the parts of the page: the run, each task, the failures."""
    worst = failures(run, FailureChoice(tasks=list(found)))
    return [
        Section(slug="run", title="Run", tables=(conditions_of(run), engines_of(run))),
        *(
            Section(
                slug=f"task-{name}",
                title=f"Task {name}",
                tables=report.tables,
                plots=report.plots,
            )
            for name, report in found.items()
        ),
        Section(
            slug="failures",
            title="Failures",
            tables=(failures_table(run, worst, _FAILURES),),
        ),
    ]


def _shown(cell: Cell) -> str:
    return safe(text_of(cell))


def _side(cell: Cell) -> str:
    """Return the class of a cell: figures stand to the right."""
    return "text" if cell is None or isinstance(cell, str) else "figure"


def _picture(plot: Plot) -> str:
    """Return a plot as the address of a picture that is in the page itself."""
    # An extra, and slow to import: only who wants plots waits for it.
    from evaluation.exports.drawing import svg_of  # noqa: PLC0415 (not every run needs it)

    return f"data:image/svg+xml;base64,{b64encode(svg_of(plot)).decode()}"
