"""Waiting for what another process or thread does, and tells nobody."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def wait_until(
    there: Callable[[], bool], seconds: float, *, pause: float = 0.05
) -> None:
    """Look again and again until something is so; fail where it is not in time.

    Args:
        there: Whether it is so: a file of another process, a line on a screen. There is
            no event to wait for.
        seconds: After which it is given up.
        pause: Seconds between two looks, so that what is waited for gets the processor.
    """
    end = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < end
        time.sleep(pause)
