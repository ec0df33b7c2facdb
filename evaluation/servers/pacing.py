"""Pace requests: one backoff, the server's own quotas, limits of a run.

Servers tell their quotas with each answer: a header with `ratelimit` and `remaining` in
its name, and two more with `limit` and `reset` in that place (`x-ratelimit-*` of OpenAI
and those who follow it, `anthropic-ratelimit-*`). A quota fills up steadily and is
full at its reset.
"""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from evaluation.generation.text_generation import TokenPrices

#: Seconds of the first pause; doubled after each further trouble without an answer.
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
#: A duration as OpenAI writes it: `6m0s`, `1.2s`, `17ms`.
_PART: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|h|m|s)")
_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


@dataclass(frozen=True, slots=True)
class Quota:
    """What a server lets through, as it told at one moment."""

    remaining: float
    limit: float
    #: What comes back every second.
    rate: float
    #: The moment, by the clock of the backoff.
    told: float

    def there(self, now: float) -> float:
        """Return how much is let through at a moment."""
        return min(self.limit, self.remaining + self.rate * (now - self.told))

    def pause(self, needed: float, now: float) -> float:
        """Return the seconds until so much is there."""
        return max(0.0, min(needed, self.limit) - self.there(now)) / self.rate

    def less(self, needed: float, now: float) -> Quota:
        """Return what is left when so much is taken now."""
        return Quota(self.there(now) - needed, self.limit, self.rate, now)


def quotas_in(headers: Mapping[str, str], now: float) -> dict[str, Quota]:
    """Return the quotas that an answer's headers tell, by header.

    Example:
        >>> quotas_in({
        ...     "x-ratelimit-limit-requests": "60",
        ...     "x-ratelimit-remaining-requests": "0",
        ...     "x-ratelimit-reset-requests": "1m0s",
        ... }, now=0.0)["x-ratelimit-remaining-requests"].pause(1, now=0.0)
        1.0
    """
    by_name = {name.lower(): value for name, value in headers.items()}
    quotas: dict[str, Quota] = {}
    for name, value in by_name.items():
        if "ratelimit" in name and "remaining" in name:
            limit = _number(by_name.get(name.replace("remaining", "limit"), ""))
            reset = _seconds(by_name.get(name.replace("remaining", "reset"), ""))
            remaining = _number(value)
            if limit is None or remaining is None or not reset:
                continue
            if remaining < limit:
                rate = (limit - remaining) / reset
                quotas[name] = Quota(remaining, limit, rate, now)
    return quotas


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", text) else None


def _seconds(text: str) -> float | None:
    """Return the seconds of a duration, or until a moment (RFC 3339)."""
    if parts := _PART.findall(text):
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    try:
        moment = datetime.datetime.fromisoformat(text)
        left = (moment - datetime.datetime.now(datetime.UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return _number(text)
    return max(0.0, left)


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
        self._quotas: dict[str, Quota] = {}
        #: Requests without an outcome, and the most tokens of an answer so far.
        self._under_way = 0
        self._tokens = 0

    def wait(self) -> float:
        """Wait until a request may be sent; return the moment at which that was."""
        while True:
            with self._lock:
                now = self._clock()
                # A pause beyond all patience is the server's to ask for, by a 429.
                pauses = (
                    pause
                    for name, quota in self._quotas.items()
                    if (pause := quota.pause(self._needed(name), now)) <= self._budget
                )
                remaining = max(self._until - now, *pauses, 0.0)
                if remaining <= 0:
                    self._under_way += 1
                    for name, quota in self._quotas.items():
                        self._quotas[name] = quota.less(self._needed(name), now)
                    return now
            self._sleep(remaining)

    def _needed(self, quota: str) -> float:
        return self._tokens if "token" in quota else 1

    def told(self, headers: Mapping[str, str], tokens: int = 0) -> None:
        """Take what the headers of a response tell of the server's quotas.

        Args:
            headers: Those of the response.
            tokens: What it used of them, prompt and answer.
        """
        with self._lock:
            now = self._clock()
            self._under_way = max(0, self._under_way - 1)
            self._tokens = max(self._tokens, tokens)
            for name, quota in quotas_in(headers, now).items():
                # Those under way may have come after it.
                spoken_for = self._under_way * self._needed(name)
                self._quotas[name] = quota.less(spoken_for, now)

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
            # A request that was under way when others began to wait tells nothing new.
            pause = self._pause if sent >= self._begun else 0.0
            until = max(self._until, now + max(pause, requested))
            if until - self._since > self._budget:
                return False
            if pause:
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                self._begun = now
            self._until = until
            return True


class SpendingLimit(Exception):  # noqa: N818 (it says what it is)
    """A limit of the run is reached; nothing more is sent."""


class Spending:
    """What the requests of a run have cost so far, and what they may.

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
        #: What was told, and what the rest can have cost at most.
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
            cost: None if it is not told.
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
