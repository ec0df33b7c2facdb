"""What becomes of a generator's process, and of a peer that cannot be installed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from bench.generators import generator_process, peers
from bench.generators.generator_process import Command, Generator
from bench.generators.peers import FAKER, HYPOTHESIS, JSF, Absent, installed

if TYPE_CHECKING:
    from pathlib import Path

_MADE_UP = """\
import itertools, signal, time
from bench.generators.generating import serve

def fill(task, add):
    kind = task["schema"].get("const")
    if kind == "raise":
        add(1)
        raise LookupError
    if kind == "hang":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        while True:
            signal.pause()
    print("a library talks")
    for number in itertools.count():
        time.sleep(0.001)  # Values without end, but not a million of them.
        add({1, 2})
        add(float("nan"))
        add(number % 3)

serve("7", fill, warming=0.05)
"""


@pytest.fixture
def made_up(tmp_path: Path) -> Command:
    """Return a generator that does what a schema's `const` says."""
    script = tmp_path / "made_up.py"
    script.write_text(_MADE_UP, encoding="utf-8")
    return Command(words=(sys.executable, str(script)))


def test_a_generator_is_interrupted_and_keeps_what_it_made(made_up: Command) -> None:
    """Without end is no trouble; what is no JSON and what is repeated goes."""
    with Generator(made_up) as generator:
        assert generator.version == "7"
        answer = generator.ask({}, "draft-07", 0.1)
    assert answer == {"values": ["0", "1", "2"], "seconds": 0.1, "ended": "in time"}


def test_what_was_made_before_a_fault_counts(made_up: Command) -> None:
    """A library that raises has its own name for why."""
    with Generator(made_up) as generator:
        answer = generator.ask({"const": "raise"}, "draft-07", 5.0)
    assert (answer["values"], answer["ended"]) == (["1"], "LookupError")
    assert answer["seconds"] < 5


@pytest.mark.slow
def test_a_generator_that_hangs_is_killed_and_started_anew(
    made_up: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has made nothing in its whole time; the next schema is not its victim."""
    monkeypatch.setattr(generator_process, "_GRACE", 3.0)
    with Generator(made_up) as generator:
        hung = generator.ask({"const": "hang"}, "draft-07", 0.05)
        after = generator.ask({}, "draft-07", 0.1)
    assert hung == {"values": [], "seconds": 0.05, "ended": "killed"}
    assert after["values"] == ["0", "1", "2"]


def test_a_peer_that_cannot_be_installed_is_absent_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No npm and no index: each says why."""
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(peers, "_failure", lambda _: "no index")
    assert installed(tmp_path / "peers", tmp_path) == {
        HYPOTHESIS: Absent("no index"),
        JSF: Absent("no index"),
        FAKER: Absent("no npm"),
    }
