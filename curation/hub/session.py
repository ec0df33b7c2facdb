"""One conversation with the Hub: how long we wait, and what its refusals mean.

`huggingface_hub` makes every request, reads its own environment (`HF_ENDPOINT`,
`HF_TOKEN`, `HF_HOME`, `HF_HUB_OFFLINE` and the rest) and repeats some requests by
itself. What it leaves open is set here: no wait without an end, a bound on what a
rate limit may cost, and for each refusal a fault that says what to do.
"""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

import httpx2
import huggingface_hub
from huggingface_hub import errors
from huggingface_hub.utils.tqdm import disable_progress_bars

from curation.faults import (
    BadData,
    CannotCreate,
    Fault,
    NoInput,
    NotPermitted,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.hub.redaction import redacted

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator

_T = TypeVar("_T")
_LOGIN = "hf auth login, or set HF_TOKEN"
_RESET = re.compile(r";\s*t\s*=\s*(\d+)")
_SERVER_ERROR = 500
_TIMEOUT, _LIMITED, _GONE_AHEAD = 408, 429, (409, 412)
#: What is raised where code is wrong, not the world.
_DEFECTS = (AssertionError, AttributeError, LookupError, NameError, TypeError)
_QUOTA = re.compile(r"(?i)quota|storage limit|exceeded|upgrade your plan|payment")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long we wait for what; seconds."""

    connect: float = 15.0
    #: Without a byte from the other side.
    silence: float = 180.0
    #: In all, because of rate limits: three of the Hub's windows.
    limited: float = 900.0
    #: Tries of a request that is safe to repeat.
    attempts: int = 4
    #: Before the second try; doubled for each further one.
    pause: float = 1.0


class Waits:
    """What is left of the patience with rate limits."""

    def __init__(self, patience: Patience) -> None:
        """Start with all of it."""
        self._left = patience.limited
        self._lock = threading.Lock()

    def watch(self, response: httpx2.Response) -> None:
        """Take the wait that a 429 asks for off what is left.

        Raises:
            TemporarilyUnavailable: it asks for more (exit 75).
        """
        if response.status_code != _LIMITED:
            return
        wait = asked_wait(response)
        with self._lock:
            if wait > self._left:
                raise TemporarilyUnavailable(
                    f"the Hub limits our rate for another {wait:.0f} s",
                    str(response.request.url.copy_with(query=None)),
                    "the same command later goes on from here",
                )
            self._left -= wait


def asked_wait(response: httpx2.Response) -> float:
    """Return the seconds that an answer asks us to wait, plus one for rounding.

    `RateLimit: "api";r=0;t=55` says it (IETF draft ratelimit-headers-09), or
    `Retry-After`.
    """
    found = _RESET.search(response.headers.get("RateLimit", ""))
    text = found[1] if found else response.headers.get("Retry-After", "").strip()
    return float(text) + 1 if text.isdecimal() else 1.0


@cache
def _certificates() -> ssl.SSLContext:
    """Return the trusted certificates, read once: that takes longer than asking."""
    return httpx2.create_ssl_context()


@contextmanager
def patient_client(patience: Patience, *, bars: bool = False) -> Iterator[None]:
    """Let every request of huggingface_hub wait as we want, inside the block.

    Its progress bars are drawn only if `bars`, and its own environment allows it.
    """
    if not bars:
        disable_progress_bars()
    own_hooks = huggingface_hub.get_session().event_hooks["request"]
    waits = Waits(patience)

    def ours() -> httpx2.Client:
        return httpx2.Client(
            verify=_certificates(),
            event_hooks={"request": own_hooks, "response": [waits.watch]},
            follow_redirects=True,
            timeout=httpx2.Timeout(patience.silence, connect=patience.connect),
        )

    def theirs() -> httpx2.Client:
        return httpx2.Client(
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


def repeated(ask: Callable[[], _T], where: str, patience: Patience) -> _T:
    """Ask something that may be asked twice, until there is an answer.

    Raises:
        Fault: there is none; `fault_of` says which.
    """
    for wait in waits_between(patience):
        try:
            return ask()
        except Exception as error:  # noqa: BLE001 (each is raised again, as a fault)
            wait(error, where)
    raise ValueError(patience.attempts)


def waits_between(patience: Patience) -> Iterator[Callable[[Exception, str], None]]:
    """Yield, for each try, what waits after its failure or raises the fault of it."""
    pause = patience.pause
    for left in reversed(range(patience.attempts)):
        yield partial(_wait, last=not left, pause=pause)
        pause *= 2


def _wait(error: Exception, where: str, *, last: bool, pause: float) -> None:
    seconds = _wait_before_next(error, pause)
    if seconds is None or last:
        raise fault_of(error, where) from error
    time.sleep(seconds)


def _wait_before_next(error: Exception, pause: float) -> float | None:
    """Return for how long to wait before asking again; None if that is no use."""
    response = _response_of(error)
    if response is not None:
        if response.status_code == _LIMITED:
            return asked_wait(response)
        worth = response.status_code == _TIMEOUT or (
            response.status_code >= _SERVER_ERROR
        )
        return pause if worth else None
    return pause if _reason(error, httpx2.TransportError) is not None else None


def is_uncertain(error: Exception) -> bool:
    """Whether a request may have been done although the answer says nothing."""
    response = _response_of(error)
    if response is None:
        return _reason(error, httpx2.TransportError) is not None
    return response.status_code == _TIMEOUT or response.status_code >= _SERVER_ERROR


def is_overtaken(error: Exception) -> bool:
    """Whether the Hub refuses because somebody else was first."""
    response = _response_of(error)
    return response is not None and response.status_code in _GONE_AHEAD


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what it was raised from, outermost first."""
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        yield current
        seen.add(id(current))
        current = current.__cause__ or current.__context__


_E = TypeVar("_E", bound=BaseException)


def _reason(error: BaseException, kind: type[_E]) -> _E | None:
    return next((each for each in _chain(error) if isinstance(each, kind)), None)


def _response_of(error: BaseException) -> httpx2.Response | None:
    found = _reason(error, errors.HfHubHTTPError)
    return found.response if found else None


def fault_of(error: Exception, where: str) -> Fault:
    """Return what a failure of the library means, without any credential.

    `where` is the repository that was asked about.
    """
    fault = _reason(error, Fault)
    if fault is not None:
        return fault
    if _is_complaint(error):
        return BadData(redacted(str(error)), where)
    answered = _reason(error, errors.HfHubHTTPError)
    if answered is not None:
        return _of_answer(answered, where)
    if _reason(error, errors.OfflineModeIsEnabled) is not None:
        return Unavailable(
            "HF_HUB_OFFLINE is set and the cache does not hold it", where, "unset it"
        )
    if _reason(error, httpx2.TransportError) is not None:
        return Unavailable(
            f"the Hub cannot be reached ({_last_words(error)})",
            where,
            "the same command later goes on from here",
        )
    return _of_the_rest(error, where)


def _is_complaint(error: Exception) -> bool:
    """Whether the library itself says what is wrong with what it was given."""
    known = errors.HfHubHTTPError | errors.HFValidationError | json.JSONDecodeError
    return isinstance(error, ValueError) and not isinstance(error, known)


def _of_the_rest(error: Exception, where: str) -> Fault:
    if isinstance(error, errors.LocalTokenNotFoundError | errors.OIDCError):
        return NotPermitted(f"no token ({_last_words(error)})", where, _LOGIN)
    if isinstance(error, errors.HFValidationError):
        return NoInput("not a name that the Hub could have", where)
    if _reason(error, json.JSONDecodeError) is not None:
        return Unavailable("what answers there is no Hub", where, "see HF_ENDPOINT")
    if isinstance(error, errors.LocalEntryNotFoundError | errors.FileMetadataError):
        return Unavailable(redacted(str(error)), where)
    if isinstance(error, OSError):
        return CannotCreate(_last_words(error), where)
    said = redacted(f"{type(error).__name__}: {_last_words(error)}")
    if isinstance(error, _DEFECTS):
        return Fault(said, where)
    # The upload over Xet has exceptions of its own.
    return Unavailable(said, where, "the same command later goes on from here")


def _last_words(error: BaseException) -> str:
    innermost = list(_chain(error))[-1]
    return redacted(str(innermost) or type(innermost).__name__)


def _of_answer(error: errors.HfHubHTTPError, where: str) -> Fault:
    code = error.response.status_code
    said = redacted(error.server_message or "")
    shown = f"the Hub answers {code}" + (f" ({said})" if said else "")
    if isinstance(error, errors.GatedRepoError):
        return NotPermitted(
            "it is gated", where, "ask for access on its page, then: hf auth login"
        )
    if code == httpx2.codes.UNAUTHORIZED:
        return NotPermitted(f"{shown}: no token that it knows", where, _LOGIN)
    if code in {402, 413, 507} or (
        code == httpx2.codes.FORBIDDEN and _QUOTA.search(said)
    ):
        return NotPermitted(
            f"{shown}: no room left", where, "free space there or raise the plan"
        )
    if code == httpx2.codes.FORBIDDEN:
        return NotPermitted(shown, where, "use a token that may write there")
    if isinstance(error, errors.RevisionNotFoundError | errors.EntryNotFoundError):
        return NoInput("the Hub has no such revision or file", where)
    if code == httpx2.codes.NOT_FOUND:
        return NoInput(
            "the Hub has nothing of that name, or shows it to others only",
            where,
            _LOGIN,
        )
    if code == _LIMITED or code in _GONE_AHEAD:
        return TemporarilyUnavailable(shown, where, "the same command later goes on")
    if code < _SERVER_ERROR:
        return BadData(f"{shown}: {redacted(str(error))}", where)
    return Unavailable(shown, where, "the same command later goes on from here")
