"""What reaches a terminal: nothing that a schema's author could steer it with."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.system.escaping import safe, safe_lines, shortened
from curation.system.tables import table
from curation.system.terminal import (
    print_json,
    say,
    say_command,
    show,
    show_whole,
    stderr,
    stdout,
)


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
    say(words)
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
        say(words)
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
    say(f"Writing {path}")
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


def test_data_and_progress_are_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """Data goes to stdout and talk to stderr."""
    show("data")
    say("talk")
    assert capsys.readouterr() == ("data\n", "talk\n")


def test_long_lines_are_not_folded_in_a_pipe(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A program that reads the lines gets each of them whole."""
    show("x" * 1_000)
    assert capsys.readouterr().out == "x" * 1_000 + "\n"


def test_json_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON on stdout is ASCII, and gives back the very text."""
    print_json({"a": HOSTILE, "é": 2**70})
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out) == {"a": HOSTILE, "é": 2**70}


def test_no_colour_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """Styles do not reach what is no terminal."""
    show("x", style="bold red")
    assert capsys.readouterr().out == "x\n"
