"""The lock: one process at a time, released whatever happens, waited for if asked."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from curation.system.errors import CannotCreate, TemporarilyUnavailable
from curation.system.locks import locked

if TYPE_CHECKING:
    from pathlib import Path

BUSY = TemporarilyUnavailable("in use", "here", "wait")


def test_a_second_holder_is_refused_with_the_message_given(tmp_path: Path) -> None:
    """The folder of the lock's file is made, and the fault is the caller's own."""
    file = tmp_path / "new" / "lock"
    with (
        locked(file, BUSY),
        pytest.raises(TemporarilyUnavailable, match="here: in use: wait"),
        locked(file, BUSY, before_waiting=lambda: pytest.fail("waited for")),
    ):
        pytest.fail("held twice")


def test_a_block_that_raises_lets_go(tmp_path: Path) -> None:
    """The next holder finds the lock free, while the error is still looked at."""
    file = tmp_path / "lock"
    with pytest.raises(ValueError, match="broken") as raised, locked(file, BUSY):
        raise ValueError("broken")
    with locked(file, BUSY):
        assert raised.traceback


def test_another_holder_is_waited_for(tmp_path: Path) -> None:
    """Where waiting is allowed, it is told once and ends with the other's block."""
    file, told = tmp_path / "lock", []
    taken, waiting = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(file, BUSY):
            taken.set()
            waiting.wait(10)

    def tell() -> None:
        told.append("waiting")
        waiting.set()

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait(10)
    with locked(file, BUSY, wait_seconds=10, before_waiting=tell):
        assert told == ["waiting"]
    holder.join()


def test_waiting_has_an_end(tmp_path: Path) -> None:
    """After the seconds given the fault is raised."""
    file = tmp_path / "lock"
    with (
        locked(file, BUSY),
        pytest.raises(TemporarilyUnavailable),
        locked(file, BUSY, wait_seconds=0.01),
    ):
        pytest.fail("held twice")


def test_a_lock_that_cannot_be_made_names_its_folder(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(CannotCreate, match=f"^{tmp_path / 'file'}: "),
        locked(tmp_path / "file" / "lock", BUSY),
    ):
        pytest.fail("no lock, no block")
