"""Retry: how often, after which pauses, and how long a server asks to wait."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from typing import TypeVar

import stamina
import urllib3

T = TypeVar("T")

#: stamina logs every retry; without a handler Python prints that on stderr.
logging.getLogger("stamina").addHandler(logging.NullHandler())

_RETRY_AFTER = urllib3.Retry(retry_after_max=sys.maxsize)


def retry_call(
    ask: Callable[[], T],
    may_pass: Callable[[Exception], bool | float],
    attempts: int,
    pause: float,
) -> T:
    """Return the result of a function, calling it until it returns.

    Args:
        ask: The function.
        may_pass: For an exception of a try, whether to try again, or the seconds to
            wait before that instead of the pause that is due.
        attempts: The limit of calls.
        pause: Seconds before the second try; doubled before each further one.

    Raises:
        Exception: the last try's, or a permanent failure.
    """
    caller = stamina.RetryingCaller(
        attempts=attempts, timeout=None, wait_initial=pause, wait_max=60, wait_jitter=0
    )
    return caller(may_pass, ask)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `Retry-After`, a number or a date (RFC 9110, 10.2.3).

    None if it is missing or empty.
    """
    try:
        return float(_RETRY_AFTER.parse_retry_after(headers.get("Retry-After", "")))
    except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
        return None
