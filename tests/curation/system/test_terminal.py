"""What reaches a terminal: safe to show, never silent, honest about what is left."""

from __future__ import annotations

import json
import re
import sys
import time
import unicodedata
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.system.progress import (
    HEARTBEAT,
    Phases,
    Quiet,
    Shown,
    announce,
    elapsed,
    heartbeat,
    no_heartbeat,
)
from curation.system.terminal import (
    log,
    print_json,
    say_command,
    show,
    show_whole,
    stderr,
    stdout,
    table,
)
from curation.system.words import safe, safe_lines, shortened
from tests.waiting import wait_until


def as_on_a_screen(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Let stdout and stderr be a screen that is so wide."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)


def test_a_table_loses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """On a pipe each row is one line, however long; on a screen cells are folded."""
    headers, cells = ["a", "b"], ["x" * 300, "y" * 300]
    for columns in ("", "60"):
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("COLUMNS", columns)
            stdout().print(table(headers, [cells]))
        out = capsys.readouterr().out
        assert (out.count("x"), out.count("y")) == (300, 300)
        assert (max(map(len, out.splitlines())) <= 60) == bool(columns)
        assert (cells[0] in out) != bool(columns)


def test_a_screen_folds_lines_at_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """80 columns hold every line, and what is to be copied stays on one of its own."""
    as_on_a_screen(monkeypatch, 80)
    words = "unresolved_reference " * 12
    command = "csbdata explain REASON --in " + "long/" * 20
    log(words)
    show(words)
    say_command("Why", command)
    out, err = capsys.readouterr()
    assert set((out + err).split()) >= {"unresolved_reference"}
    lines = [line for line in (out + err).splitlines() if command not in line]
    assert max(map(len, lines)) <= 80
    assert f"\n  {command}\n" in err
    assert stderr().is_terminal


def test_a_pipe_is_folded_where_columns_says_how_wide_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines and tables as on a screen of that width; as they are where none is said."""
    words = "unresolved_reference " * 12
    headers = [f"column_{number:02}" for number in range(20)]
    for columns, most in (("80", 80), ("", 400)):
        monkeypatch.setenv("COLUMNS", columns)
        show(words)
        log(words)
        stdout().print(table(headers, [["value"] * 20]))
        widths = [
            max(map(len, text.rstrip().splitlines())) for text in capsys.readouterr()
        ]
        assert all(200 < width <= most or width <= most == 80 for width in widths)


def test_a_word_that_is_longer_than_the_screen_stays_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path can be copied, however narrow the window."""
    as_on_a_screen(monkeypatch, 40)
    path = "/somewhere/" + "deep/" * 20
    show(f"3 files in {path} and elsewhere")
    log(f"Writing {path}")
    out, err = capsys.readouterr()
    assert path in out
    assert f"{path}\n" in err


def test_what_has_lines_of_its_own_is_folded_nowhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Markdown and annotations mean something else if they are folded."""
    as_on_a_screen(monkeypatch, 40)
    show_whole("| a table | of markdown |" * 9)
    assert capsys.readouterr().out.count("\n") == 1


HOSTILE = "\x1b[2J\x07\x9b31m\u202e\u2066\u200b\ufeff\U000e0041\udc80\r\n\t"


@given(st.text(st.characters()))
def test_safe_text_has_no_control_characters(text: str) -> None:
    """No C0, C1, format, line-separating or unpaired character is left."""
    kinds = {unicodedata.category(character) for character in safe(text)}
    assert not kinds & {"Cc", "Zl", "Zp", "Cs"}


def test_every_trick_becomes_visible() -> None:
    """Escapes, bells, reordering marks and invisible tags show as escapes."""
    shown = safe(HOSTILE)
    assert shown.isascii()
    assert shown.startswith("\\u001b[2J\\u0007\\u009b31m\\u202e")
    assert "\\U000e0041" in shown


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"])))
def test_harmless_text_stays(text: str) -> None:
    """Letters, digits, punctuation and spaces of every script are left alone."""
    assert safe(text) == text


def test_lines_stay_lines() -> None:
    """Only the line ends of a text survive."""
    assert safe_lines("a\n\x1bb\r\nc") == "a\n\\u001bb\\u000d\nc"


@given(st.text(), st.integers(min_value=4, max_value=50))
def test_shortened_text_is_short(text: str, length: int) -> None:
    """The length holds after control characters became visible."""
    assert len(shortened(text, length)) <= length
    assert len(shortened(text + "x" * 81)) == 80


def test_markup_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Brackets and colons from data are no styles and no emoji."""
    show("[bold]x[/bold] :smile: [link=file:///etc]y[/link]")
    stdout().print(table(["[red]h"], [["[i]cell"]]))
    out = capsys.readouterr().out
    assert "[bold]x[/bold] :smile: [link=file:///etc]y[/link]\n" in out
    assert "[red]h" in out
    assert "[i]cell" in out


def test_a_pipe_gets_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Each whole and without a style: data on stdout, talk on stderr."""
    show("x" * 1_000, style="bold red")
    log("talk")
    assert capsys.readouterr() == ("x" * 1_000 + "\n", "talk\n")


def test_json_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON on stdout is ASCII, and gives back the very text."""
    print_json({"a": HOSTILE, "é": 2**70})
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out) == {"a": HOSTILE, "é": 2**70}


class Said(Quiet):
    """Progress that remembers what was said."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.lines: list[str] = []

    def log(self, message: str) -> None:
        """Remember the line."""
        self.lines.append(message)


until = partial(wait_until, seconds=20, pause=0.005)


class Errors:
    """Everything that came on stderr so far."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Begin with nothing."""
        self._capsys = capsys
        self.text = ""

    def have(self, pattern: str) -> bool:
        """Read what came since, and search all of it."""
        self.text += self._capsys.readouterr().err
        return re.search(pattern, self.text) is not None


def test_where_there_is_no_screen_lines_say_how_far_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the total, what is done and the time left, again and again."""
    errors = Errors(capsys)
    with heartbeat(0.01), Shown().bar("Reading", total=2_000) as advance:
        until(lambda: errors.have(r"Reading: 0 of 2,000, 0 s so far\n"))
        advance(500)
        time.sleep(0.05)
        advance(1_000)
        until(lambda: errors.have(r"Reading: 1,500 of 2,000, about .* left, \d+ s so"))
    assert "Reading 2,000 ...\n" in errors.text


def test_what_an_earlier_run_did_says_nothing_of_the_time_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of 1,000 steps 990 were there: no time is estimated before new ones."""
    errors = Errors(capsys)
    with heartbeat(0.01), Shown().bar("Reading", total=1_000, found=990) as advance:
        advance(990)
        until(lambda: errors.have(r"Reading: 990 of 1,000, \d+ s so far\n"))
        assert "left" not in errors.text
        advance(1)
        time.sleep(0.2)
        advance(1)
        until(lambda: errors.have(r"Reading: 992 of 1,000, about .* left"))


def test_no_line_is_printed_twice() -> None:
    """After minutes each heartbeat still differs from the one before."""
    durations = [elapsed(seconds) for seconds in range(0, 1_000, int(HEARTBEAT))]
    assert len(durations) == len(set(durations))


def test_the_phases_of_one_work_are_numbered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each bar and each step without one says which phase it is, of how many."""
    phases = Phases(Shown(), 2)
    with phases.bar("Reading", 3):
        pass
    phases.begin("Writing build/x")
    with heartbeat(0.02):
        until(lambda: _heard(capsys, "2/2 Writing build/x: still at work, "))


def test_no_step_is_silent_for_longer_than_ten_seconds() -> None:
    """The heartbeat is at most that."""
    assert HEARTBEAT <= 10


def test_a_step_that_prints_nothing_is_said_to_be_at_work(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever a command does: so long after the last word, and again after that."""
    with heartbeat(0.02):
        until(lambda: _heard(capsys, "still at work, "))
        until(lambda: _heard(capsys, "still at work, "))


def test_nothing_is_said_where_somebody_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The line would go through what a person types."""
    with heartbeat(0.02), no_heartbeat():
        time.sleep(0.1)
        assert capsys.readouterr().err == ""


def test_what_prints_by_itself_is_no_silent_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The time counts from the last line, on stdout or stderr."""
    with heartbeat(3.0):
        for _ in range(5):
            show("a line")
            time.sleep(0.01)
    assert capsys.readouterr().err == ""


def _heard(capsys: pytest.CaptureFixture[str], words: str) -> bool:
    return words in capsys.readouterr().err


def test_a_long_duration_is_said_before_the_work_begins() -> None:
    """Over a minute, and only then."""
    told = Said()
    announce(told, "Making instances", 59)
    assert told.lines == []
    announce(told, "Making instances", 150)
    assert told.lines == [
        "Making instances takes about 2 min 30 s on a machine like ours"
    ]
