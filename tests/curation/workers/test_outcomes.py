"""What is known of the end of a worker process."""

from __future__ import annotations

import signal
from pathlib import Path

import msgspec
import pytest

from curation.workers.limits import Limits
from curation.workers.outcomes import Ending, ProcessResult
from curation.workers.process import Program
from curation.workers.worker import Worker

PROGRAM = Program(file=Path(__file__).with_name("miniature_worker.py"))


@pytest.mark.parametrize(
    ("unit", "number", "was_killed"),
    [
        (["die", "SIGKILL"], signal.SIGKILL, True),
        (["die", "SIGSEGV"], signal.SIGSEGV, False),
        (["leave", 7], None, False),
    ],
)
def test_the_signal_is_a_number(
    unit: list[str | int],
    number: int | None,
    was_killed: bool,  # noqa: FBT001 (a case of the claim)
) -> None:
    """Who asks whether somebody killed the worker need not read a sentence."""
    with Worker(PROGRAM, Limits(seconds=30)) as worker:
        result = worker.ask(unit)
    assert (result.signal, result.was_killed) == (number, was_killed)


def test_our_own_kill_is_no_signal() -> None:
    """A worker that is killed for its deadline was not killed by somebody else."""
    with Worker(PROGRAM, Limits(seconds=30)) as worker:
        result = worker.ask(["stubborn", None], seconds=0.3)
    assert (result.ending, result.was_killed) == (Ending.TIMEOUT, False)


def test_an_answer_is_read_as_a_type() -> None:
    """A list becomes a tuple; what is of another type is refused."""
    result = ProcessResult(ending=Ending.OK, answer=[1, 2])
    assert result.answer_as(tuple[int, ...]) == (1, 2)
    with pytest.raises(msgspec.ValidationError):
        result.answer_as(str)


def test_an_answer_left_as_text_is_read_as_a_type() -> None:
    """The same as of one that was read at once."""
    result = ProcessResult(ending=Ending.OK, answer=msgspec.Raw(b"[1, 2]"))
    assert result.answer_as(tuple[int, ...]) == (1, 2)
    with pytest.raises(msgspec.ValidationError):
        result.answer_as(str)
