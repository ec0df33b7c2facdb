"""What an HTTP answer's status and headers mean for a download."""

from __future__ import annotations

import re
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from curation.system.errors import NoLongerThere, TemporarilyUnavailable, Unavailable
from curation.system.retry import rate_limit_reset, retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_GONE: Final = frozenset({404, 410, 451})
_SECONDS: Final = re.compile(r"[0-9]{1,9}")
_NONE_LEFT: Final = re.compile(r";\s*r=0(?![0-9])")


class RetryableError(Exception):
    """A failure that may pass.

    Attributes:
        fault: What it is if no further try is left.
        wait: The seconds that the server asks to wait; None if it does not say.
    """

    def __init__(
        self, fault: Unavailable | TemporarilyUnavailable, wait: float | None = None
    ) -> None:
        """Hold the fault, and how long to wait before the next try."""
        super().__init__(str(fault))
        self.fault = fault
        self.wait = wait


def is_redirect(status: int) -> bool:
    """Return whether the answer points elsewhere."""
    return status in _REDIRECTS


def refuse_failures(
    status: int, headers: Mapping[str, str], place: str, longest_wait: float
) -> None:
    """Raise what any status but 200 means.

    Args:
        status: The answer's status code.
        headers: Its headers; names in any case.
        place: The address, as messages show it.
        longest_wait: The longest wait that a server may ask for, in seconds.

    Raises:
        RetryableError: it may pass; with the wait that the server asks for.
        TemporarilyUnavailable: the server asks for a longer wait (exit 75).
        Unavailable: it will not pass (exit 69).
    """
    if status == HTTPStatus.OK:
        return
    wait = requested_wait(status, headers)
    if wait is not None and wait > longest_wait:
        what = f"answers {status} and asks to wait {wait:,.0f} seconds"
        raise TemporarilyUnavailable(what, place, "run the same command later")
    what = f"answers {status} {_phrase(status)}"
    if wait is not None or status == HTTPStatus.TOO_MANY_REQUESTS:
        then = "run the same command later"
        raise RetryableError(TemporarilyUnavailable(what, place, then), wait)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise RetryableError(Unavailable(what, place, "run the same command later"))
    if status in _GONE:
        raise NoLongerThere(what, place, "what is pinned is no longer there")
    raise Unavailable(what, place)


def requested_wait(status: int, headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, or None if it does not.

    Read from `Retry-After` (seconds or a date), `RateLimit` with none left, and
    GitHub's `X-RateLimit-Reset`.
    """
    if status < HTTPStatus.BAD_REQUEST:
        return None
    if headers.get("Retry-After", "").strip():
        return retry_after(headers)
    none_left = _NONE_LEFT.search(headers.get("RateLimit", ""))
    if none_left or status == HTTPStatus.TOO_MANY_REQUESTS:
        reset = rate_limit_reset(headers)
        if reset is not None:
            return reset
    instant = headers.get("X-RateLimit-Reset", "").strip()
    if headers.get("X-RateLimit-Remaining") == "0" and _SECONDS.fullmatch(instant[:9]):
        return max(0.0, float(instant) - time.time())
    return None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "(no known status)"
