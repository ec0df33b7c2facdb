"""What reaches a terminal: nothing that a schema's author could steer it with."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from curation.system.escaping import safe, safe_lines, shortened
from curation.system.terminal import print_json, say, show, stdout, table

if TYPE_CHECKING:
    import pytest

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
