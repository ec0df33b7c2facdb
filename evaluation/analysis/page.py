"""Export a run as a page with plots, with a notice of partial data."""

from __future__ import annotations

import io
import re
from base64 import b64encode
from dataclasses import dataclass
from importlib.resources import files
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, StrictUndefined
from matplotlib.figure import Figure

from curation.dataset.plots import PAGE, save, style
from curation.system.atomic_files import atomic_write_bytes, cannot_write
from curation.system.escaping import safe
from evaluation.analysis.failures import FailureChoice, failures, failures_table
from evaluation.analysis.run_report import conditions_of, engines_of, reports
from evaluation.reporting.tables import Cell, Table, text_of
from evaluation.results.description import describe, partial_data
from evaluation.results.reader import RecordedRun, gaps_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from evaluation.reporting.report import Plot, Report

#: The file's name, beside what is exported.
FILE: Final = "notice.txt"


def notice_of(run: RecordedRun) -> list[str]:
    """Return why figures of a run are not what they seem, line by line; often none."""
    return [*gaps_of(run), *partial_data(run.header)]


def write_notice(run: RecordedRun, folder: Path) -> list[Path]:
    """Write the notice of a run into a folder, where it has one; returns the file.

    Raises:
        CannotCreate: it cannot be written.
    """
    path = folder / FILE
    text = "".join(f"{line}\n" for line in notice_of(run))
    if text:
        atomic_write_bytes(path, text.encode())
    return [path] if text else []


_HEIGHT = 3.6
#: Characters of a line below a plot.
_NOTICE_WIDTH = 110


def draw_all(plots: Iterable[Plot], folder: Path, notice: str = "") -> list[Path]:
    """Draw plots into a folder, each as SVG and PNG; returns the files.

    Args:
        plots: What is drawn.
        folder: Where the files go.
        notice: Stands below each plot: a picture travels alone.

    Raises:
        CannotCreate: the folder cannot be written.
    """
    paths: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for plot in plots:
            with style():
                paths += save(_figure(plot, notice), folder / _slug(plot.name))
    except OSError as error:
        raise cannot_write(folder, error) from error
    return paths


def svg_of(plot: Plot) -> bytes:
    """Return a plot as SVG."""
    nothing: dict[str, Any] = {"Date": None, "Creator": None}
    out = io.BytesIO()
    with style():
        _figure(plot).savefig(out, format="svg", metadata=nothing, bbox_inches="tight")
    return out.getvalue()


def _figure(plot: Plot, notice: str = "") -> Figure:
    figure = Figure(figsize=(PAGE, _HEIGHT), layout="constrained")
    plot.draw(figure)
    if notice:
        figure.supxlabel("\n".join(wrap(notice, _NOTICE_WIDTH)), fontsize="x-small")
    return figure


def _slug(name: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", name.lower())) or "plot"


_TEMPLATE = "page.html.jinja"
_FAILURES = 100
#: Tables of a section that are open; the others are shown at a click.
SHOWN = 12


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
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"shown": _format, "picture": _picture, "side": _side}
    template = environment.from_string(
        files(__package__).joinpath(_TEMPLATE).read_text(encoding="utf-8")
    )
    return template.render(
        name=safe(name),
        notice=[safe(line) for run in runs for line in notice_of(run)],
        about=[
            safe(line)
            for run in runs
            for line in describe(run.header)
            if line not in notice_of(run)
        ],
        shown=SHOWN,
        sections=parts,
    )


def sections(run: RecordedRun, reports: Mapping[str, Report]) -> list[Section]:
    """Return the parts of the page: the run, each task, the failures."""
    worst = failures(run, FailureChoice(tasks=list(reports)))
    return [
        Section(slug="run", title="Run", tables=(conditions_of(run), engines_of(run))),
        *(
            Section(
                slug=f"task-{name}",
                title=f"Task {name}",
                tables=report.tables,
                plots=report.plots,
            )
            for name, report in reports.items()
        ),
        Section(
            slug="failures",
            title="Failures",
            tables=(failures_table(run, worst, _FAILURES),),
        ),
    ]


#: Spaces inside a figure; a line may end before what is in brackets.
_INNER = re.compile(r" (?![\[(])")


def _format(cell: Cell) -> str:
    text = safe(text_of(cell))
    return text if isinstance(cell, str) else _INNER.sub("\N{NO-BREAK SPACE}", text)


def _side(cell: Cell) -> str:
    """Return the class of a cell: figures stand to the right."""
    return "text" if cell is None or isinstance(cell, str) else "figure"


def _picture(plot: Plot) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg_of(plot)).decode()}"
