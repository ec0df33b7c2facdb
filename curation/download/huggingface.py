"""Talk to the Hub: time limits, retries, snapshots, and errors of ours.

`huggingface_hub` reads its own environment (`HF_ENDPOINT`, `HF_TOKEN`, `HF_HOME`,
`HF_HUB_OFFLINE` and the rest) and repeats some requests itself. Here every wait gets a
limit, and rate limits a budget.
"""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import httpx2 as httpx
import huggingface_hub
from huggingface_hub import errors
from huggingface_hub.utils._http import parse_ratelimit_headers
from huggingface_hub.utils.tqdm import disable_progress_bars

from curation.system.credentials import redacted
from curation.system.errors import (
    BadData,
    CannotCreate,
    CsbdataError,
    NoInput,
    NotPermitted,
    TemporarilyUnavailable,
    Unavailable,
    list_causes,
)
from curation.system.retry import retry_after, retry_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


_LOGIN = "hf auth login, or set HF_TOKEN"
_LATER = "the same command later goes on from here"
_SERVER_ERROR = 500
_TIMEOUT, LIMITED, _GONE_AHEAD = 408, 429, (409, 412)
_NO_ROOM, _MAKE_ROOM = (402, 413, 507), "free space there or raise the plan"
#: How `hf_xet` writes an answer that is a refusal.
_XET_STATUS = re.compile(r"HTTP status (?:client|server) error \((\d{3})")
#: What is raised where code is wrong, not the world.
_DEFECTS = (AssertionError, AttributeError, LookupError, NameError, TypeError)
_QUOTA = re.compile(r"(?i)quota|storage limit|exceeded|upgrade your plan|payment")
_E = TypeVar("_E", bound=BaseException)


def may_pass(error: Exception) -> bool:
    """Return whether a retry may succeed, rate limits aside."""
    response = find_response(error)
    if response is None:
        return _reason(error, httpx.TransportError) is not None
    return response.status_code == _TIMEOUT or response.status_code >= _SERVER_ERROR


def is_overtaken(error: Exception) -> bool:
    """Return whether the Hub refuses because of another commit."""
    response = find_response(error)
    return response is not None and response.status_code in _GONE_AHEAD


def _reason(error: BaseException, kind: type[_E]) -> _E | None:
    return next(
        (cause for cause in list_causes(error) if isinstance(cause, kind)), None
    )


def find_response(error: BaseException) -> httpx.Response | None:
    """Return the Hub's answer behind a failure; None without one."""
    cause = _reason(error, errors.HfHubHTTPError)
    return cause.response if cause else None


#: A failure, or a cause of one: the kind of fault, the message, and the hint.
_FAULTS: tuple[tuple[type[BaseException], type[CsbdataError], str, str], ...] = (
    (
        errors.OfflineModeIsEnabled,
        Unavailable,
        "HF_HUB_OFFLINE is set and the cache does not hold it",
        "unset it",
    ),
    (
        httpx.TransportError,
        Unavailable,
        "the Hub cannot be reached ({inner})",
        _LATER,
    ),
    (errors.LocalTokenNotFoundError, NotPermitted, "no token ({inner})", _LOGIN),
    (errors.OIDCError, NotPermitted, "no token ({inner})", _LOGIN),
    (errors.HFValidationError, NoInput, "not a name that the Hub could have", ""),
    (
        json.JSONDecodeError,
        Unavailable,
        "what answers there is no Hub",
        "see HF_ENDPOINT",
    ),
    (errors.LocalEntryNotFoundError, Unavailable, "{text}", ""),
    (errors.FileMetadataError, Unavailable, "{text}", ""),
)


def describe_fault(error: Exception, where: str) -> CsbdataError:
    """Return a failure of the library as an error of ours, without credentials.

    `where` is the repository.
    """
    fault = _reason(error, CsbdataError)
    if fault is not None:
        return fault
    innermost = list(list_causes(error))[-1]
    text, inner = redacted(str(error)), str(innermost) or type(innermost).__name__
    inner = redacted(inner)
    precise = errors.HfHubHTTPError | errors.HFValidationError | json.JSONDecodeError
    if isinstance(error, ValueError) and not isinstance(error, precise):
        # The library complains about its input.
        return BadData(text, where)
    answered = _reason(error, errors.HfHubHTTPError)
    if answered is not None:
        return _of_answer(answered, where)
    for kind, fault_kind, message, hint in _FAULTS:
        if _reason(error, kind) is not None:
            return fault_kind(message.format(text=text, inner=inner), where, hint)
    if isinstance(error, ConnectionError | TimeoutError):
        # `hf_xet` raises Python's own connection errors, the status in their text.
        match = _XET_STATUS.search(text)
        if match is None:
            return Unavailable(text, where, _LATER)
        answer = f"the Hub's storage answers {match[1]}"
        return _of_code(int(match[1]), answer, where, who=f"{answer}: it", detail=text)
    if isinstance(error, OSError):
        return CannotCreate(inner, where)
    message = redacted(f"{type(error).__name__}: {inner}")
    if isinstance(error, _DEFECTS):
        return CsbdataError(message, where)
    # The upload over Xet has separate exceptions.
    return Unavailable(message, where, _LATER)


def _of_code(
    code: int, answer: str, where: str, *, who: str, detail: str
) -> CsbdataError:
    if code in _NO_ROOM:
        return NotPermitted(f"{answer}: no room left", where, _MAKE_ROOM)
    if code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return NotPermitted(answer, where, "use a token that may write there")
    if code == httpx.codes.NOT_FOUND:
        message = f"{who} has nothing of that name, or shows it to others only"
        return NoInput(message, where, _LOGIN)
    if code == LIMITED or code in _GONE_AHEAD:
        return TemporarilyUnavailable(answer, where, "the same command later goes on")
    if code < _SERVER_ERROR and code != _TIMEOUT:
        return BadData(f"{answer}: {detail}", where)
    return Unavailable(answer, where, _LATER)


def _of_answer(error: errors.HfHubHTTPError, where: str) -> CsbdataError:
    code = error.response.status_code
    text = redacted(error.server_message or "")
    answer = f"the Hub answers {code}" + (f" ({text})" if text else "")
    if isinstance(error, errors.GatedRepoError):
        hint = "ask for access on its page, then: hf auth login"
        return NotPermitted("it is gated", where, hint)
    if code == httpx.codes.UNAUTHORIZED:
        return NotPermitted(f"{answer}: no token that it knows", where, _LOGIN)
    if code in _NO_ROOM or (code == httpx.codes.FORBIDDEN and _QUOTA.search(text)):
        return NotPermitted(f"{answer}: no room left", where, _MAKE_ROOM)
    part = errors.RevisionNotFoundError | errors.EntryNotFoundError
    if isinstance(error, part) and code != httpx.codes.FORBIDDEN:
        return NoInput("the Hub has no such revision or file", where)
    return _of_code(code, answer, where, who="the Hub", detail=redacted(str(error)))


_T = TypeVar("_T")


class HubTimeLimits(NamedTuple):
    """Time limits of requests to the Hub, in seconds, and retries."""

    connect: float = 15.0
    #: Without a byte from the other side.
    silence: float = 180.0
    #: In all, because of rate limits: three of the Hub's windows.
    limited: float = 900.0
    #: Tries of a request that is safe to repeat.
    attempts: int = 4
    #: Before the second try; doubled for each further one.
    pause: float = 1.0


def rate_limit_watch(seconds: float) -> Callable[[httpx.Response], None]:
    """Return a hook that takes the wait of each 429 from a budget of seconds.

    It raises `TemporarilyUnavailable` (exit 75) if an answer asks for more.
    """
    left, lock = seconds, threading.Lock()

    def watch(response: httpx.Response) -> None:
        nonlocal left
        if response.status_code != LIMITED:
            return
        wait = hub_wait(response)
        with lock:
            if wait > left:
                raise TemporarilyUnavailable(
                    f"the Hub limits our rate for another {wait:.0f} s",
                    str(response.request.url.copy_with(query=None)),
                    _LATER,
                )
            left -= wait

    return watch


def hub_wait(response: httpx.Response) -> float:
    """Return the seconds to wait after an answer, plus one for rounding.

    They are in `RateLimit`, otherwise in `Retry-After`.
    """
    limit = parse_ratelimit_headers(response.headers)
    seconds = limit.reset_in_seconds if limit else retry_after(response.headers)
    return 1.0 if seconds is None else seconds + 1.0


#: Returns the trusted certificates, read once because that is slow.
_certificates = cache(httpx.create_ssl_context)


@contextmanager
def hub_client(time_limits: HubTimeLimits, *, bars: bool = False) -> Iterator[None]:
    """Let huggingface_hub use our time limits, inside the block.

    Its progress bars are drawn only if `bars`, and its own environment allows it.
    """
    if not bars:
        disable_progress_bars()
    hooks = huggingface_hub.get_session().event_hooks["request"]

    def set_client(
        responses: list[Callable[..., None]], timeout: httpx.Timeout | None
    ) -> None:
        huggingface_hub.set_client_factory(
            lambda: httpx.Client(
                verify=_certificates(),
                event_hooks={"request": hooks, "response": responses},
                follow_redirects=True,
                timeout=timeout,
            )
        )

    watch = rate_limit_watch(time_limits.limited)
    set_client([watch], httpx.Timeout(time_limits.silence, connect=time_limits.connect))
    try:
        yield
    finally:
        # As the library's own.
        set_client([], None)


def repeated(ask: Callable[[], _T], where: str, time_limits: HubTimeLimits) -> _T:
    """Make a request that is safe to repeat, with retries.

    Args:
        ask: The request; a failure of the library is raised.
        where: The repository, as messages name it.
        time_limits: How often it is tried, and after which pause.

    Raises:
        CsbdataError: it is missing; see `describe_fault`.
    """

    def passes(error: Exception) -> bool | float:
        response = find_response(error)
        if isinstance(error, CsbdataError):
            return False
        if response is not None and response.status_code == LIMITED:
            return hub_wait(response)
        return may_pass(error)

    try:
        return retry_call(ask, passes, time_limits.attempts, time_limits.pause)
    except Exception as error:
        raise describe_fault(error, where) from error


#: The files of a dataset downloaded by default.
_TABLES = ("*.parquet", "README.md")


def hub_snapshot(
    name: str,
    revision: str | None,
    patterns: Sequence[str] = _TABLES,
    *,
    kind: str = "dataset",
) -> Path:
    """Download files of a repository on the Hub; return the folder.

    Args:
        name: The repository, `owner/name`.
        revision: A branch, tag or commit; None for main.
        patterns: The files; by default the tables of a dataset.
        kind: `dataset` or `model`.

    Raises:
        NoInput: the Hub has no such repository or revision.
        NotPermitted: it is gated, or private to others.
        Unavailable: the Hub cannot be reached, and the cache does not hold it.
    """
    try:
        folder = huggingface_hub.snapshot_download(
            name, repo_type=kind, revision=revision, allow_patterns=list(patterns)
        )
    except Exception as error:
        where = f"{name}@{revision}" if revision else name
        raise describe_fault(error, where) from error
    return Path(folder)
