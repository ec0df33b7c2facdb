"""One conversation with the Hub: how long we wait, and what is asked again.

`huggingface_hub` makes every request, reads its own environment (`HF_ENDPOINT`,
`HF_TOKEN`, `HF_HOME`, `HF_HUB_OFFLINE` and the rest) and repeats some requests by
itself. What it leaves open is set here: no wait is without an end, and rate limits cost
a bounded time.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import huggingface_hub
from huggingface_hub.utils.tqdm import disable_progress_bars

from curation.huggingface.client_library import httpx
from curation.huggingface.errors import LIMITED, fault_of, may_pass, response_of
from curation.system.errors import CsbdataError, TemporarilyUnavailable
from curation.system.retry import RetryPolicy, rate_limit_reset, retry_after

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class HubTimeLimits:
    """How long requests to the Hub may take, in seconds, and how often one is tried."""

    connect: float = 15.0
    #: Without a byte from the other side.
    silence: float = 180.0
    #: In all, because of rate limits: three of the Hub's windows.
    limited: float = 900.0
    #: Tries of a request that is safe to repeat.
    attempts: int = 4
    #: Before the second try; doubled for each further one.
    pause: float = 1.0


class RateLimitBudget:
    """The seconds that may still be waited because of rate limits."""

    def __init__(self, time_limits: HubTimeLimits) -> None:
        """Start with all that the limits allow."""
        self._left = time_limits.limited
        self._lock = threading.Lock()

    def watch(self, response: httpx.Response) -> None:
        """Take the wait that a 429 asks for off what is left.

        Raises:
            TemporarilyUnavailable: it asks for more (exit 75).
        """
        if response.status_code != LIMITED:
            return
        wait = hub_wait(response)
        with self._lock:
            if wait > self._left:
                raise TemporarilyUnavailable(
                    f"the Hub limits our rate for another {wait:.0f} s",
                    str(response.request.url.copy_with(query=None)),
                    "the same command later goes on from here",
                )
            self._left -= wait


def hub_wait(response: httpx.Response) -> float:
    """Return the seconds that an answer asks us to wait, plus one for rounding.

    The Hub says them in `RateLimit`, or else in `Retry-After`.
    """
    seconds = rate_limit_reset(response.headers)
    if seconds is None:
        seconds = retry_after(response.headers)
    return 1.0 if seconds is None else seconds + 1.0


@cache
def _certificates() -> ssl.SSLContext:
    """Return the trusted certificates, read once: that takes longer than asking."""
    return httpx.create_ssl_context()


@contextmanager
def hub_client(time_limits: HubTimeLimits, *, bars: bool = False) -> Iterator[None]:
    """Give huggingface_hub a client with our time limits, inside the block.

    Its progress bars are drawn only if `bars`, and its own environment allows it.
    """
    if not bars:
        disable_progress_bars()
    own_hooks = huggingface_hub.get_session().event_hooks["request"]
    waits = RateLimitBudget(time_limits)

    def ours() -> httpx.Client:
        return httpx.Client(
            verify=_certificates(),
            event_hooks={"request": own_hooks, "response": [waits.watch]},
            follow_redirects=True,
            timeout=httpx.Timeout(time_limits.silence, connect=time_limits.connect),
        )

    def theirs() -> httpx.Client:
        return httpx.Client(
            verify=_certificates(),
            event_hooks={"request": own_hooks},
            follow_redirects=True,
            timeout=None,
        )

    huggingface_hub.set_client_factory(ours)
    try:
        yield
    finally:
        huggingface_hub.set_client_factory(theirs)


def repeated(ask: Callable[[], _T], where: str, time_limits: HubTimeLimits) -> _T:
    """Ask something that may be asked twice, until there is an answer.

    Args:
        ask: The request; a failure of the library is raised.
        where: The repository, as messages name it.
        time_limits: How often it is tried, and after which pause.

    Raises:
        CsbdataError: there is none; `fault_of` says which.
    """
    policy = RetryPolicy(attempts=time_limits.attempts, first_pause=time_limits.pause)
    try:
        return policy.call(ask, _may_pass)
    except Exception as error:
        raise fault_of(error, where) from error


def _may_pass(error: Exception) -> bool | float:
    """Return whether to ask again, or after how many seconds."""
    if isinstance(error, CsbdataError):
        return False
    response = response_of(error)
    if response is not None and response.status_code == LIMITED:
        return hub_wait(response)
    return may_pass(error)
