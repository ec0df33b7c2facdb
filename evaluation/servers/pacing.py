"""Pace requests: one backoff for all to a server, and the limits of a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from evaluation.core.records import TokenPrices

#: Seconds of the first pause; doubled after each further trouble without an answer.
_FIRST_PAUSE: Final = 1.0
_MAX_PAUSE: Final = 60.0


class SharedBackoff:
    """When the next request may be sent.

    Example:
        >>> backoff = SharedBackoff(minutes=10)
        >>> sent = backoff.wait()
        >>> backoff.again_after(sent, requested=2.0)  # HTTP 429, Retry-After: 2
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
            sleep: Waits a number of seconds.
        """
        self._budget = minutes * 60
        self._clock = clock
        self._sleep = sleep
        self._lock = Lock()
        # When requests may continue, and when the last pause was begun.
        self._until = self._begun = float("-inf")
        #: When trouble began; None while the server answers.
        self._since: float | None = None
        self._pause = _FIRST_PAUSE

    def wait(self) -> float:
        """Wait until a request may be sent; return the moment at which that was."""
        while True:
            with self._lock:
                now = self._clock()
                remaining = self._until - now
                if remaining <= 0:
                    return now
            self._sleep(remaining)

    def answered(self) -> None:
        """Note that the server answers: later trouble is a new one."""
        with self._lock:
            self._since = None
            self._pause = _FIRST_PAUSE

    def again_after(self, sent: float, requested: float = 0.0) -> bool:
        """Have all requests wait; return whether there is time to ask again.

        Args:
            sent: What `wait` returned for the request that met the trouble.
            requested: Seconds that the server wants to be left alone (`Retry-After`).
        """
        with self._lock:
            now = self._clock()
            if self._since is None:
                self._since = now
            # A request that was under way when others began to wait brings no news.
            pause = self._pause if sent > self._begun else 0.0
            until = max(self._until, now + max(pause, requested))
            if until - self._since > self._budget:
                return False
            if pause:
                self._pause = min(2 * self._pause, _MAX_PAUSE)
                self._begun = now
            self._until = until
            return True


class SpendingLimit(Exception):  # noqa: N818 (named by its meaning)
    """A limit of the run is reached; nothing more is sent."""


class Spending:
    """The cost of the requests of a run so far, and its limit.

    Example:
        >>> spending = Spending(max_requests=1)
        >>> spending.send()
        >>> spending.send()
        Traceback (most recent call last):
        ...
        evaluation.servers.pacing.SpendingLimit: --max-requests 1 is reached
    """

    def __init__(
        self, max_cost: float | None = None, max_requests: int | None = None
    ) -> None:
        """Prepare; nothing is spent."""
        self._max_cost, self._max_requests = max_cost, max_requests
        self._lock = Lock()
        #: Sent so far.
        self.requests = 0
        #: The reported cost, and the maximum cost of the rest.
        self.cost, self._untold = 0.0, 0.0
        self._told = True

    def send(self) -> None:
        """Count a request that is about to be sent.

        Raises:
            SpendingLimit: none may be sent any more.
        """
        with self._lock:
            requests, spent = self.requests, self.cost + self._untold
            if self._max_requests is not None and requests >= self._max_requests:
                raise SpendingLimit(f"--max-requests {self._max_requests:,} is reached")
            if self._max_cost is not None and not spent < self._max_cost:
                most = "" if self._told else "at most "
                raise SpendingLimit(
                    f"--max-cost {self._max_cost:g} is reached: {most}{spent:.4f} spent"
                )
            self.requests += 1

    def pay(self, cost: float | None, most: float = 0.0) -> None:
        """Count the cost of an answer.

        Args:
            cost: None if unknown.
            most: What it can be then.
        """
        with self._lock:
            self.cost += cost or 0.0
            if cost is None:
                self._told = False
                self._untold += most

    def __str__(self) -> str:
        """Return the cost so far, for a line of progress."""
        if self._told or self.cost:
            more = "" if self._told else " and what is not told"
            return f"cost {self.cost:.4f}{more}"
        return "cost not told"


@dataclass(frozen=True, slots=True)
class Account:
    """Where one model's requests are paid from."""

    spending: Spending
    prices: TokenPrices | None = None

    def pay(
        self, prompt: int | None, output: int | None, sent: int, budget: int
    ) -> None:
        """Pay for a request.

        Args:
            prompt: Tokens of the prompt, as the server counted them.
            output: Tokens of the answer.
            sent: Bytes of the request: its prompt has no more tokens.
            budget: Most tokens of an answer.
        """
        if self.prices is None:
            self.spending.pay(None)
            return
        most = self.prices.cost(sent, budget) or 0.0
        self.spending.pay(self.prices.cost(prompt, output), most)
