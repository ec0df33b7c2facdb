"""Progress: never silent for long, and honest about how much is left."""

from __future__ import annotations

import re
import time
from functools import partial
from typing import TYPE_CHECKING

from curation.system.progress import (
    HEARTBEAT,
    Phases,
    Quiet,
    Shown,
    announce,
    elapsed,
    heartbeat,
    no_heartbeat,
    spoken,
)
from curation.system.terminal import show
from tests.waiting import wait_until

if TYPE_CHECKING:
    import pytest


class Said(Quiet):
    """Progress that remembers what was said."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.lines: list[str] = []

    def say(self, message: str) -> None:
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
        until(lambda: errors.have(r"Reading: 992 of 1,000, about \d s left"))


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
    assert told.lines == ["Making instances takes about 2 min on a machine like ours"]
    assert spoken(7_200) == "2.0 h"
