"""Work in a thread, and a deadline for work that has none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

_T = TypeVar("_T")


def apart(work: Callable[[], _T]) -> Future[_T]:
    """Begin work in a thread that does not keep the process alive."""
    outcome: Future[_T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001 # raised in the caller's thread
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome


def within(seconds: float, work: Callable[[], _T]) -> _T:
    """Return the result of work, if it comes within some seconds.

    Name resolution and slow answers have no other deadline. Late work is left to its
    thread.

    Raises:
        TimeoutError: it takes longer.
    """
    outcome = apart(work)
    if not wait([outcome], timeout=seconds).done:
        raise TimeoutError(f"nothing within {seconds:g} seconds")
    return outcome.result()
