"""The page of a run: self-contained, the same figures, and foreign text is text."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from evaluation.results.reader import open_run
from tests.evaluation.made_runs import HEAD, many, write_run
from tests.evaluation.site.made_editions import hostile_run

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.results.reader import RecordedRun

pytest.importorskip("matplotlib")

from evaluation.reporting.tables import text_of
from evaluation.results.overview import overview
from evaluation.site.run_page import page


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


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[RecordedRun, str]:
    """A hostile run and its page, made once: drawing takes a second."""
    run = hostile_run(tmp_path_factory.mktemp("page"))
    return run, page(run)


def test_a_page_needs_nothing_and_runs_nothing(made: tuple[RecordedRun, str]) -> None:
    """No script, no address but its own anchors and embedded pictures."""
    seen, (_, text) = _Seen(), made
    seen.feed(text)
    assert "script" not in seen.tags
    assert seen.addresses
    assert all(
        each.startswith(("#", "data:image/svg")) or each == "data:,"
        for each in seen.addresses
    )
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
    section = text.partition('id="Task+masks"')[2].partition("</section>")[0]
    shown, closed, hidden = section.partition("<details>")
    assert shown.count("<table>") == 12
    assert f"<summary>{hidden.count('<table>')} more table" in hidden
    assert closed
    assert hidden.count("</details>") == 1
    assert shown.index("What passes, paired") < shown.index("<caption>Coverage")


@pytest.mark.slow
def test_a_page_is_the_same_each_time(made: tuple[RecordedRun, str]) -> None:
    """The same run makes the same bytes, plots included."""
    run, text = made
    assert page(run) == text
