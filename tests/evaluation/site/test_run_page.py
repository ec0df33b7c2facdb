"""The page of a run: self-contained, the same figures, and foreign text is text."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from curation import cli
from evaluation.analysis.failures import failures
from evaluation.asking.batch_output import custom_id, names_of
from evaluation.core.records import FREE, Record, encode_records
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import HEAD, blocked, many, row, write_run
from tests.evaluation.site.made_editions import hostile_run

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.results.reader import RecordedRun

pytest.importorskip("matplotlib")

from evaluation.reporting.tables import text_of
from evaluation.results.overview import overview
from evaluation.site.run_page import page
from evaluation.site.run_texts import wrong_texts


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
    assert f"{hidden.count('<table>')} more tables" in hidden
    assert closed
    assert hidden.count("</details>") == 1
    assert shown.index("What passes, paired") < shown.index("<caption>Coverage")


@pytest.mark.slow
def test_a_page_is_the_same_each_time(made: tuple[RecordedRun, str]) -> None:
    """The same run makes the same bytes, plots included."""
    run, text = made
    assert page(run) == text


def test_a_page_marks_where_a_text_was_blocked(tmp_path: Path) -> None:
    """The text is made again from the run's data, and parted at the byte."""
    data = tmp_path / "crate.json"
    tests = [{"valid": True, "data": {"a": "bcd"}}]
    data.write_text(json.dumps({"schema": {"type": "object"}, "tests": tests}))
    stopped = replace(blocked(valid=True), byte=7)
    rows = [row(id="crate", config="files", walks=(stopped,))]
    header = {**HEAD, "data": {"name": "crate", "place": str(data)}}
    run = open_run(write_run(tmp_path / "run", rows, header))
    text = page(run)
    start, _, rest = text.partition('<mark aria-label="blocked here">')
    assert start.endswith('<pre tabindex="0">{"a": "')
    assert rest.startswith('bcd"}</mark>')


def test_a_page_shows_the_answers_that_were_judged(tmp_path: Path) -> None:
    """Named by key, by id or as in a batch; of two to one record the first."""
    schema = '{"type": "object", "required": ["a"]}'
    ids = ("id", "key", "batch", "a#b", "again")
    records = [Record(id=it, group="g", schema=schema) for it in ids]
    batched, _ = names_of(custom_id("g/batch", FREE))
    named = {"id": "by id", "g/key": "the first", batched: "batched"}
    answers = [*named.items(), ("g/key", "the second"), ("g/a#b", "with a mark")]
    lines = [{"record": it, "text": f'"{text}"', "repeat": 0} for it, text in answers]
    lines += [{"record": "g/again", "text": f'"no. {n}"', "repeat": n} for n in (0, 1)]
    data, file = tmp_path / "asked.jsonl", tmp_path / "answers.jsonl"
    data.write_bytes(encode_records(records))
    file.write_text("".join(f"{json.dumps(it)}\n" for it in lines))
    command = ["suite", "score", "passrate", str(file), "--data", str(data)]
    ended = CliRunner().invoke(
        cli.application(), [*command, "--run-dir", str(tmp_path / "run")]
    )
    assert ended.exit_code == 0, ended.output
    run = open_run(tmp_path / "run")
    texts, missing = wrong_texts(run, failures(run))
    assert not missing
    assert {it.failure.id: it.taken for it in texts} == {
        "id": '"by id"', "key": '"the first"', "batch": '"batched"',
        "a#b": '"with a mark"', "again": '"no. 0"', "again#1": '"no. 1"',
    }  # fmt: skip


def test_a_page_says_that_the_records_of_a_suite_are_damaged(tmp_path: Path) -> None:
    """Their texts are missing, with file and line; the tables stay."""
    schema = '{"type": "object", "required": ["a"]}'
    records, answers = tmp_path / "asked.jsonl", tmp_path / "answers.jsonl"
    records.write_bytes(encode_records([Record(id="a", group="g", schema=schema)]))
    answers.write_text('{"record": "g/a", "text": "{}"}\n')
    command = ["suite", "score", "passrate", str(answers), "--data", str(records)]
    ended = CliRunner().invoke(
        cli.application(), [*command, "--run-dir", str(tmp_path / "run")]
    )
    assert ended.exit_code == 0
    (tmp_path / "run" / "records.jsonl").write_bytes(b'\0{"id": "a"}\n')
    text = page(open_run(tmp_path / "run"))
    assert "Their texts are not here" in text
    assert "records.jsonl" in text
