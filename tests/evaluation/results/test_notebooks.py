"""Reports, runs and tables render in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Protocol

import csbdata
from evaluation.reporting.tables import Rate, Table
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import row, write_run

if TYPE_CHECKING:
    from pathlib import Path


class _Shown(Protocol):
    def _repr_html_(self) -> str: ...


class _Cells(HTMLParser):
    """The texts of a table's body."""

    def __init__(self) -> None:
        """Start without a cell."""
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the signature of a parser
        """Note a tag; open a cell."""
        self.tags.add(tag)
        if tag == "td":
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        """Add a text to the cell that is open."""
        if self.texts:
            self.texts[-1] += data


def _cells(shown: _Shown) -> _Cells:
    parser = _Cells()
    parser.feed(shown._repr_html_())
    return parser


def test_a_report_shows_its_problems_and_no_markup_of_a_schema() -> None:
    """Place, level, code and message; what a schema says is text."""
    report = csbdata.check({"properties": {"<script>": {"type": "strng"}}})
    cells = _cells(report)
    assert any("/properties/<script>" in text for text in cells.texts)
    assert "script" not in cells.tags


def test_a_table_shows_the_texts_of_its_cells() -> None:
    """A rate with its interval, as Markdown has it."""
    table = Table(
        title="Rates", columns=("engine", "passes"), rows=(("a", Rate(3, 4)),)
    )
    name, rate = _cells(table).texts
    assert name == "a"
    assert rate.startswith("75.0 %")


def test_a_run_shows_its_rows_and_has_frames_of_both_libraries(tmp_path: Path) -> None:
    """A line an engine and task; polars and pandas hold the same cases."""
    run = open_run(write_run(tmp_path, [row(), row(id="o2"), row(engine="beta 2.0")]))
    assert _cells(run).texts == ["alpha 1.0", "masks", "2", "beta 2.0", "masks", "1"]
    frame = run.frame()
    pandas = frame.to_pandas()
    assert list(pandas["id"]) == frame["id"].to_list() == ["o1", "o2", "o1"]
    assert list(pandas.columns) == frame.columns
