"""Downloading one file over HTTP: every wait has an end, every host is checked."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import requests
import urllib3

from curation.download.allowed_hosts import (
    HostPolicy,
    host_of,
    joined,
    resolve,
    shown_url,
)
from curation.system.atomic_files import writing
from curation.system.errors import (
    BadData,
    NoLongerThere,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.system.retry import RetryPolicy, rate_limit_reset, retry_after

if TYPE_CHECKING:
    from curation.download.allowed_hosts import Resolve


_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_GONE: Final = frozenset({404, 410, 451})
_INSTANT: Final = re.compile(r"[0-9]{1,12}")
_NONE_LEFT: Final = re.compile(r";\s*r=0")


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
        TemporarilyUnavailable: the server asks for a longer wait.
        Unavailable: it will not pass.
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
    if headers.get("Retry-After", "").strip():
        return retry_after(headers)
    none_left = _NONE_LEFT.search(headers.get("RateLimit", ""))
    if none_left or status == HTTPStatus.TOO_MANY_REQUESTS:
        reset = rate_limit_reset(headers)
        if reset is not None:
            return reset
    instant = headers.get("X-RateLimit-Reset", "").strip()
    if headers.get("X-RateLimit-Remaining") == "0" and _INSTANT.fullmatch(instant):
        return max(0.0, float(instant) - time.time())
    return None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "(no known status)"


_T = TypeVar("_T")
_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """How long to wait, how often to try, how much to take. Seconds and bytes."""

    #: For a name to resolve, and for a machine to accept a connection.
    connect: float = 4.0
    #: For the next byte of an answer.
    silence: float = 20.0
    #: For everything: all attempts, redirects and waits.
    total: float = 1800.0
    #: The longest wait that a server may ask for.
    longest_wait: float = 60.0
    attempts: int = 4
    first_pause: float = 0.5
    longest_pause: float = 8.0
    redirects: int = 5
    #: Of one body, decompressed if the server compressed it.
    body_bytes: int = 4 << 30

    @property
    def retry(self) -> RetryPolicy:
        """How often one address is tried, with pauses that chance spreads."""
        return RetryPolicy(
            attempts=self.attempts,
            first_pause=self.first_pause,
            longest_pause=self.longest_pause,
            jitter=self.first_pause,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What is allowed, and which hosts have been found not to answer."""

    limits: FetchLimits = field(default_factory=FetchLimits)
    resolve: Resolve = field(default=resolve, repr=False)
    #: Hosts, and names of services, that are not asked a second time.
    silent: set[str] = field(default_factory=set, repr=False, compare=False)

    def download(
        self, url: str, file: Path, policy: HostPolicy, say: Callable[[str], None]
    ) -> None:
        """Write what the address holds to a file.

        Broken connections, failing servers and rate limits are retried with
        growing pauses.

        Args:
            url: Where it is; a redirect is followed.
            file: What is written; replaced if it is there.
            policy: The hosts that may be asked, redirects included.
            say: Prints when a wait is asked for.

        Raises:
            Unavailable: it cannot be had.
            TemporarilyUnavailable: it cannot be had now.
            BadData: it is larger than allowed.
            CannotCreate: the file cannot be written.
        """
        deadline = time.monotonic() + self.limits.total
        try:
            self.limits.retry.call(
                lambda: self._once(url, file, policy, deadline),
                lambda error: _may_pass(error, say),
            )
        except RetryableError as last:
            raise last.fault from last

    def _once(self, url: str, file: Path, policy: HostPolicy, deadline: float) -> None:
        if time.monotonic() > deadline:
            what = f"not had within {self.limits.total:,.0f} seconds"
            raise TemporarilyUnavailable(
                what, shown_url(url), "run the same command later"
            )
        limits = self.limits
        with _session() as session, self._followed(session, url, policy) as answer:
            place = shown_url(url)
            refuse_failures(
                answer.status_code, answer.headers, place, limits.longest_wait
            )
            try:
                _save(answer, file, limits.body_bytes, deadline)
            except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
                what = f"the connection broke off ({_cause(error)})"
                raise RetryableError(Unavailable(what, place, "try again")) from error

    def _followed(
        self, session: requests.Session, url: str, policy: HostPolicy
    ) -> requests.Response:
        for _ in range(self.limits.redirects + 1):
            answer = self._answer(session, url, policy)
            target = answer.headers.get("Location", "")
            if answer.status_code not in _REDIRECTS or not target:
                return answer
            answer.close()
            url = joined(url, target)
        raise Unavailable("redirects without end", shown_url(url))

    def _answer(
        self, session: requests.Session, url: str, policy: HostPolicy
    ) -> requests.Response:
        """Return the answer's head, or give the host up if there is none."""
        host = host_of(url)
        if host in self.silent:
            raise Unavailable("did not answer before", shown_url(url))
        limits = self.limits
        timeout = (limits.connect, limits.silence)
        try:
            within(limits.connect, lambda: policy.check(url, self.resolve))
            return within(
                2 * limits.connect + limits.silence,
                lambda: session.request(
                    "GET",
                    url,
                    timeout=timeout,
                    auth=lambda request: request,  # of no `.netrc`
                    allow_redirects=False,
                ),
            )
        except requests.exceptions.SSLError as error:
            what = f"no secure connection ({_cause(error)})"
            raise RetryableError(Unavailable(what, shown_url(url))) from error
        except OSError as error:
            if _is_broken(error):
                what = f"the connection broke off ({_cause(error)})"
                raise RetryableError(
                    Unavailable(what, shown_url(url), "try again")
                ) from error
            self.silent.add(host)
            what = f"does not answer ({_cause(error)})"
            raise Unavailable(what, shown_url(url)) from error


def apart(work: Callable[[], _T]) -> Future[_T]:
    """Begin work in a thread of its own, which does not keep the process alive."""
    outcome: Future[_T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001 # raised in the caller's thread
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome


def within(seconds: float, work: Callable[[], _T]) -> _T:
    """Return what the work returns, if it does so within some seconds.

    Name resolution and slow answers have no other deadline. Late work is left to its
    thread.

    Raises:
        TimeoutError: it takes longer.
    """
    outcome = apart(work)
    if not wait([outcome], timeout=seconds).done:
        raise TimeoutError(f"nothing within {seconds:g} seconds")
    return outcome.result()


class _Session(requests.Session):
    """A session that never looks where a redirect leads: `Network` does."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Find none; `requests` prepares the next question even if told not to."""


def _session() -> requests.Session:
    session = _Session()
    session.headers["User-Agent"] = f"csbdata/{version('csbdata')}"
    # What is saved must be what is stored there, byte for byte.
    session.headers["Accept-Encoding"] = "identity"
    session.stream = True
    return session


def _may_pass(error: Exception, say: Callable[[str], None]) -> bool | float:
    """Return whether to try again, or after how many seconds."""
    if not isinstance(error, RetryableError):
        return False
    if error.wait is None:
        return True
    say(f"{error.fault}; waiting {error.wait:,.0f} seconds")
    return error.wait


def _is_broken(error: OSError) -> bool:
    """Return whether a connection was there and broke, so that another may hold."""
    cause = error.args[0] if error.args else None
    return isinstance(cause, urllib3.exceptions.ProtocolError)


def _cause(error: BaseException) -> str:
    while True:
        inner = getattr(error, "reason", None) or next(
            (cause for cause in error.args if isinstance(cause, BaseException)), None
        )
        if not isinstance(inner, BaseException):
            break
        error = inner
    text = str(error.args[-1]) if error.args else ""
    return (
        text.rpartition("object at ")[2].partition(": ")[2]
        or text
        or type(error).__name__
    )


def _save(answer: requests.Response, file: Path, cap: int, deadline: float) -> None:
    """Write a body to a file, as fast as it comes, but not for ever."""
    place = shown_url(answer.url)
    size = 0
    with writing(file), file.open("wb") as sink:
        while chunk := answer.raw.read1(_CHUNK, decode_content=True):
            size += len(chunk)
            if size > cap:
                raise BadData(f"more than {cap:,} bytes", place, "refused")
            if time.monotonic() > deadline:
                what = f"too slow: {size:,} bytes until its deadline"
                then = "run the same command later"
                raise TemporarilyUnavailable(what, place, then)
            sink.write(chunk)
