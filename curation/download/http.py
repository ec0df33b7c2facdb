"""Downloading one file over HTTP: every wait has an end, every host is checked."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, TypeVar

import requests
import urllib3

from curation.download.allowed_hosts import HostPolicy, host_of, joined, resolve, shown
from curation.download.http_responses import (
    RetryableError,
    is_redirect,
    refuse_failures,
)
from curation.system.atomic_files import cannot_write
from curation.system.errors import BadData, TemporarilyUnavailable, Unavailable
from curation.system.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.download.allowed_hosts import Resolve

_T = TypeVar("_T")
_CHUNK: Final = 1 << 16
#: A body slower than this after half a minute is not worth the wait.
_SLOW_BYTES_A_SECOND: Final = 1024
_SLOW_AFTER_SECONDS: Final = 30.0


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
            say: Told when a wait is asked for.

        Raises:
            Unavailable: it cannot be had (exit 69).
            TemporarilyUnavailable: it cannot be had now (exit 75).
            BadData: it is larger than allowed (exit 65).
            CannotCreate: the file cannot be written (exit 73).
        """
        deadline = time.monotonic() + self.limits.total
        try:
            self.limits.retry.call(
                lambda: self._once(url, file, policy, deadline),
                lambda error: _may_pass(error, say),
            )
        except RetryableError as last:
            raise last.fault from last

    def size_of(self, url: str, policy: HostPolicy) -> int | None:
        """Return the bytes of what an address holds, without getting it.

        None where the server does not say, or may not be asked.
        """
        try:
            with (
                _session() as session,
                self._followed(session, url, policy, method="HEAD") as answer,
            ):
                return int(answer.headers["Content-Length"]) if answer.ok else None
        except (RetryableError, Unavailable, KeyError, ValueError):
            return None

    def _once(self, url: str, file: Path, policy: HostPolicy, deadline: float) -> None:
        if time.monotonic() > deadline:
            what = f"not had within {self.limits.total:,.0f} seconds"
            raise TemporarilyUnavailable(what, shown(url), "run the same command later")
        limits = self.limits
        with _session() as session, self._followed(session, url, policy) as answer:
            place = shown(url)
            refuse_failures(
                answer.status_code, answer.headers, place, limits.longest_wait
            )
            try:
                _save(answer, file, limits.body_bytes, deadline)
            except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
                what = f"the connection broke off ({_cause(error)})"
                raise RetryableError(Unavailable(what, place, "try again")) from error

    def _followed(
        self,
        session: requests.Session,
        url: str,
        policy: HostPolicy,
        method: str = "GET",
    ) -> requests.Response:
        """Return the first answer that is no redirect."""
        for _ in range(self.limits.redirects + 1):
            answer = self._answer(session, url, policy, method)
            target = answer.headers.get("Location", "")
            if not is_redirect(answer.status_code) or not target:
                return answer
            answer.close()
            url = joined(url, target)
        raise Unavailable("redirects without end", shown(url))

    def _answer(
        self, session: requests.Session, url: str, policy: HostPolicy, method: str
    ) -> requests.Response:
        """Return the answer's head, or give the host up if there is none."""
        host = host_of(url)
        if host in self.silent:
            raise Unavailable("did not answer before", shown(url))
        limits = self.limits
        timeout = (limits.connect, limits.silence)
        try:
            within(limits.connect, lambda: policy.check(url, self.resolve))
            return within(
                2 * limits.connect + limits.silence,
                lambda: session.request(
                    method,
                    url,
                    timeout=timeout,
                    auth=_anonymous,
                    allow_redirects=False,
                ),
            )
        except requests.exceptions.SSLError as error:
            what = f"no secure connection ({_cause(error)})"
            raise RetryableError(Unavailable(what, shown(url))) from error
        except OSError as error:
            if _is_broken(error):
                what = f"the connection broke off ({_cause(error)})"
                raise RetryableError(
                    Unavailable(what, shown(url), "try again")
                ) from error
            self.silent.add(host)
            what = f"does not answer ({_cause(error)})"
            raise Unavailable(what, shown(url)) from error


def within(seconds: float, work: Callable[[], _T]) -> _T:
    """Return what the work returns, if it does so within some seconds.

    Neither a name's resolution nor an answer that arrives byte by byte can be
    given a deadline otherwise. Work that is late is left to its thread, which
    does not keep the process alive.

    Raises:
        TimeoutError: it takes longer.
    """
    outcome: Future[_T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001 # raised in the caller's thread
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
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


def _anonymous(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Send no credentials: `requests` would take them from ~/.netrc."""
    return request


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
    """Return the innermost reason, without addresses in memory."""
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
    place = shown(answer.url)
    start = time.monotonic()
    size = 0
    try:
        with file.open("wb") as sink:
            while chunk := answer.raw.read1(_CHUNK, decode_content=True):
                size += len(chunk)
                if size > cap:
                    raise BadData(f"more than {cap:,} bytes", place, "refused")
                _check_pace(size, start, deadline, place)
                sink.write(chunk)
    except OSError as error:
        raise cannot_write(file, error) from error


def _check_pace(size: int, start: float, deadline: float, place: str) -> None:
    now = time.monotonic()
    slow = now - start > _SLOW_AFTER_SECONDS
    if now > deadline or (slow and size < (now - start) * _SLOW_BYTES_A_SECOND):
        what = f"too slow: {size:,} bytes in {now - start:,.0f} seconds"
        raise TemporarilyUnavailable(what, place, "run the same command later")
