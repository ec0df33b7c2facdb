"""The page: self-contained, the same figures, and no stranger can write into it."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import polars as pl
import pytest

from evaluation.core.cases import Result
from evaluation.results.frames import write_csv, write_parquet
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import HEAD, many, row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.results.reader import RecordedRun

pytest.importorskip("matplotlib")

from evaluation.analysis.page import draw_all, page
from evaluation.reporting.printing import as_csv
from evaluation.reporting.tables import Table, text_of
from evaluation.results.overview import overview

_EVIL = "<script>alert(1)</script>\"'\x1b[2J\u202e"


class _Seen(HTMLParser):
    """Collects tags, addresses and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [v or "" for name, v in attrs if name in ("src", "href")]
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def _run(tmp_path: Path) -> RecordedRun:
    rows = many("alpha 1.0", 60) + many("beta 2.0", 60, speed=3)
    rows.append(
        row(id=_EVIL, config=_EVIL, engine=_EVIL, task="plugin",
            result=Result.CRASH, detail=_EVIL, walks=(), warnings=(_EVIL,))
    )  # fmt: skip
    engines = [{"engine": _EVIL, "version": _EVIL, "options": {_EVIL: _EVIL}}]
    header = {**HEAD, "engines": engines, "machine": {"processor": _EVIL}}
    return open_run(write_run(tmp_path / "run", rows, header))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[RecordedRun, str]:
    """A hostile run and its page, made once: drawing takes a second."""
    run = _run(tmp_path_factory.mktemp("page"))
    return run, page(run)


def test_a_page_needs_nothing_and_runs_nothing(made: tuple[RecordedRun, str]) -> None:
    """No script, no address but its own anchors and embedded pictures."""
    seen, (_, text) = _Seen(), made
    seen.feed(text)
    assert "script" not in seen.tags
    assert seen.addresses
    assert all(each.startswith(("#", "data:image/svg")) for each in seen.addresses)
    assert "<script>alert(1)" in seen.text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_page_has_the_figures_of_the_tables(made: tuple[RecordedRun, str]) -> None:
    """Every cell of the overview stands in it as the terminal shows it."""
    seen, (run, text) = _Seen(), made
    seen.feed(text)
    text = seen.text.replace("\N{NO-BREAK SPACE}", " ")
    for table in overview(run, "plugin").tables[:2]:
        for cells in table.rows:
            for cell in cells[1:]:
                assert text_of(cell) in text


def test_a_page_says_each_warning_once_and_opens_twelve_tables(tmp_path: Path) -> None:
    """Of a section; the others are one click away, and engines come in pairs first."""
    rows = many("alpha 1.0", 40) + many("beta 2.0", 40)
    data = {"name": "x", "sha256": "1", "partial": ["the sample stands for all"]}
    run = open_run(write_run(tmp_path / "run", rows, {**HEAD, "data": data}))
    text = page(run)
    assert text.count("the sample stands for all") == 1
    section = text.partition('id="task-masks"')[2].partition("</section>")[0]
    shown, closed, hidden = section.partition("<details>")
    assert shown.count("<table>") == 12
    assert f"{hidden.count('<table>')} more tables" in hidden
    assert closed
    assert hidden.count("</details>") == 1
    assert shown.index("What passes, paired") < shown.index("<caption>Coverage")


def test_a_page_is_the_same_each_time(made: tuple[RecordedRun, str]) -> None:
    """The same run makes the same bytes, plots included."""
    run, text = made
    assert page(run) == text


def test_plots_are_drawn_as_files(tmp_path: Path) -> None:
    """Each plot as SVG and PNG, also where a time-out is in it, or nothing is."""
    lost = row(
        id="o2", result=Result.TIMEOUT, phase="compile", compile_ns=None,
        first_mask_ns=None, walks=(),
    )  # fmt: skip
    header = {**HEAD, "limits": {"compile_seconds": 40}}
    for name, rows in (("some", [row(), lost]), ("lost", [lost]), ("none", [])):
        run = open_run(write_run(tmp_path / name, rows, header))
        plots = overview(run, "masks").plots
        drawn = draw_all(plots[1:3] or plots, tmp_path / f"{name}-plots")
        assert drawn
        assert {each.suffix for each in drawn} == {".svg", ".png"}


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=cmd|' calc'!A0.json", "'=cmd|' calc'!A0.json"),
        *((f"{sign}x", f"'{sign}x") for sign in "+-@\t"),
        ("a\x1b[31mb", "'a\\u001b[31mb"),
        *((text, text) for text in ("-1.5", "+3", "o1", "a=b", "")),
    ],
)
def test_no_cell_of_csv_is_a_formula(text: str, cell: str, tmp_path: Path) -> None:
    """Of an export and of a printed table; numbers stay."""
    run = open_run(write_run(tmp_path / "run", [row(id=text)]))
    cases, _ = write_csv(run, tmp_path / "out")
    assert pl.read_csv(cases, infer_schema=False)["id"][0] in {cell, cell or None}
    table = Table(title="t", columns=("id", "count"), rows=((text, -1),))
    assert list(csv.reader(io.StringIO(as_csv(table))))[1] == [cell, "-1"]


def test_frames_are_written_whole(tmp_path: Path) -> None:
    """Parquet has the frame; CSV has lists as JSON, and empty fields, not zeros."""
    run = _run(tmp_path)
    cases, walks = write_parquet(run, tmp_path / "out")
    assert pl.read_parquet(cases).equals(run.frame())
    assert pl.read_parquet(walks).equals(run.walks())
    cases, walks = write_csv(run, tmp_path / "out")
    found = pl.read_csv(cases)
    assert found.height == len(run)
    assert found["compile_ns"].null_count() == run.frame()["compile_ns"].null_count()
    crashed = found.filter(pl.col("task") == "plugin")["warnings"][0]
    assert json.loads(crashed) == [_EVIL]
    times = pl.read_csv(walks)["mask_ns"][0]
    assert json.loads(times) == run.walks()["mask_ns"][0].to_list()
