"""Waiting together: while a server is in trouble, nobody goes on asking it.

One of these is shared by all requests to a server. A request that meets trouble makes
all of them wait; what many meet at the same time is one trouble. The time for which a
server may be in trouble without a single answer is bounded.
"""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds of the first pause; doubled after each further trouble without an answer.
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0


class SharedBackoff:
    """When the next request may be sent.

    Example:
        >>> backoff = SharedBackoff(minutes=10)
        >>> sent = backoff.wait()
        >>> backoff.again_after(sent, asked=2.0)  # HTTP 429, Retry-After: 2
        True
        >>> backoff.wait()  # doctest: +SKIP
        >>> backoff.answered()
    """

    def __init__(
        self,
        minutes: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Prepare; nobody waits yet.

        Args:
            minutes: For how long a server may give no answer at all.
            clock: Tells the time in seconds.
            sleep: Waits so many seconds.
        """
        self._budget = minutes * 60
        self._clock = clock
        self._sleep = sleep
        self._lock = Lock()
        # When requests may go on, and when the last pause was begun.
        self._until = self._begun = float("-inf")
        #: When trouble began; None while the server answers.
        self._since: float | None = None
        self._pause = _FIRST_PAUSE

    def wait(self) -> float:
        """Wait until a request may be sent; return the moment at which that was."""
        while True:
            with self._lock:
                now = self._clock()
                left = self._until - now
            if left <= 0:
                return now
            self._sleep(left)

    def answered(self) -> None:
        """Take note that the server answers: trouble that comes now is a new one."""
        with self._lock:
            self._since = None
            self._pause = _FIRST_PAUSE

    def again_after(self, sent: float, asked: float = 0.0) -> bool:
        """Have all requests wait; return whether there is time to ask again.

        Args:
            sent: What `wait` returned for the request that met the trouble.
            asked: Seconds that the server wants to be left alone (`Retry-After`).
        """
        with self._lock:
            now = self._clock()
            if self._since is None:
                self._since = now
            # A request that was under way when others began to wait tells nothing new.
            pause = self._pause if sent >= self._begun else 0.0
            until = max(self._until, now + max(pause, asked))
            if until - self._since > self._budget:
                return False
            if pause:
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                self._begun = now
            self._until = until
            return True
