"""What an HTTP answer's status and headers mean for someone who wants a file."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from curation.system.errors import TemporarilyUnavailable, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_GONE: Final = frozenset({404, 410, 451})
_SECONDS: Final = re.compile(r"[0-9]{1,9}")
_RESET: Final = re.compile(r";\s*t=([0-9]{1,9})")
_NONE_LEFT: Final = re.compile(r";\s*r=0(?![0-9])")


class Again(Exception):  # noqa: N818 # an answer, not an error
    """Try again, after `wait` seconds or whenever; `fault` if it was the last time."""

    def __init__(
        self, fault: Unavailable | TemporarilyUnavailable, wait: float | None = None
    ) -> None:
        """Take the fault that it will have been."""
        super().__init__(str(fault))
        self.fault = fault
        self.wait = wait


def is_redirect(status: int) -> bool:
    """Say whether the answer points elsewhere."""
    return status in _REDIRECTS


def refuse_failures(
    status: int, headers: Mapping[str, str], place: str, longest_wait: float
) -> None:
    """Raise what any status but 200 means.

    `Again` for what may pass, with the wait that the server asks for;
    `TemporarilyUnavailable` if that is longer than the longest wait (seconds);
    `Unavailable` for what will not pass.
    """
    if status == HTTPStatus.OK:
        return
    wait = asked_wait(status, headers)
    if wait is not None and wait > longest_wait:
        what = f"answers {status} and asks to wait {wait:,.0f} seconds"
        raise TemporarilyUnavailable(what, place, "run the same command later")
    what = f"answers {status} {_phrase(status)}"
    if wait is not None or status == HTTPStatus.TOO_MANY_REQUESTS:
        then = "run the same command later"
        raise Again(TemporarilyUnavailable(what, place, then), wait)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise Again(Unavailable(what, place, "run the same command later"))
    gone = "what is pinned is no longer there" if status in _GONE else ""
    raise Unavailable(what, place, gone)


def asked_wait(status: int, headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, or None if it does not.

    Read from `Retry-After` (seconds or a date), `RateLimit` with none left, and
    GitHub's `X-RateLimit-Reset`.
    """
    if status < HTTPStatus.BAD_REQUEST:
        return None
    after = headers.get("Retry-After", "").strip()
    if _SECONDS.fullmatch(after):
        return float(after)
    if after:
        return _until(after)
    limit = headers.get("RateLimit", "")
    reset = _RESET.search(limit)
    if reset and (_NONE_LEFT.search(limit) or status == HTTPStatus.TOO_MANY_REQUESTS):
        return float(reset.group(1))
    instant = headers.get("X-RateLimit-Reset", "").strip()
    if headers.get("X-RateLimit-Remaining") == "0" and _SECONDS.fullmatch(instant[:9]):
        return max(0.0, float(instant) - time.time())
    return None


def _until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except ValueError:
        return None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "(no known status)"
