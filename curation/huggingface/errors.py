"""What the Hub's refusals and a broken connection mean: one fault for each.

`huggingface_hub` wraps what goes wrong, sometimes twice; the whole chain is looked at.
No fault holds a credential.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, TypeVar

from huggingface_hub import errors

from curation.credentials.redaction import redacted
from curation.huggingface.client_library import httpx
from curation.system.errors import (
    BadData,
    CannotCreate,
    CsbdataError,
    NoInput,
    NotPermitted,
    TemporarilyUnavailable,
    Unavailable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOGIN = "hf auth login, or set HF_TOKEN"
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
    """Return whether the same request may succeed in a moment; rate limits aside."""
    response = response_of(error)
    if response is None:
        return _reason(error, httpx.TransportError) is not None
    return response.status_code == _TIMEOUT or response.status_code >= _SERVER_ERROR


def is_overtaken(error: Exception) -> bool:
    """Return whether the Hub refuses because somebody else was first."""
    response = response_of(error)
    return response is not None and response.status_code in _GONE_AHEAD


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what it was raised from, outermost first."""
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        yield current
        seen.add(id(current))
        current = current.__cause__ or current.__context__


def _reason(error: BaseException, kind: type[_E]) -> _E | None:
    return next((found for found in _chain(error) if isinstance(found, kind)), None)


def response_of(error: BaseException) -> httpx.Response | None:
    """Return the Hub's answer behind a failure; None where there was none."""
    found = _reason(error, errors.HfHubHTTPError)
    return found.response if found else None


def fault_of(error: Exception, where: str) -> CsbdataError:
    """Return what a failure of the library means, without any credential.

    `where` is the repository that was asked about.
    """
    fault = _reason(error, CsbdataError)
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
    if _reason(error, httpx.TransportError) is not None:
        return Unavailable(
            f"the Hub cannot be reached ({_innermost_text(error)})",
            where,
            "the same command later goes on from here",
        )
    return _of_the_rest(error, where)


def _is_complaint(error: Exception) -> bool:
    """Return whether the library itself says what is wrong with its input."""
    known = errors.HfHubHTTPError | errors.HFValidationError | json.JSONDecodeError
    return isinstance(error, ValueError) and not isinstance(error, known)


def _of_the_rest(error: Exception, where: str) -> CsbdataError:
    if isinstance(error, errors.LocalTokenNotFoundError | errors.OIDCError):
        return NotPermitted(f"no token ({_innermost_text(error)})", where, _LOGIN)
    if isinstance(error, errors.HFValidationError):
        return NoInput("not a name that the Hub could have", where)
    if _reason(error, json.JSONDecodeError) is not None:
        return Unavailable("what answers there is no Hub", where, "see HF_ENDPOINT")
    if isinstance(error, errors.LocalEntryNotFoundError | errors.FileMetadataError):
        return Unavailable(redacted(str(error)), where)
    if isinstance(error, ConnectionError | TimeoutError):
        return _of_xet(error, where)
    if isinstance(error, OSError):
        return CannotCreate(_innermost_text(error), where)
    said = redacted(f"{type(error).__name__}: {_innermost_text(error)}")
    if isinstance(error, _DEFECTS):
        return CsbdataError(said, where)
    # The upload over Xet has exceptions of its own.
    return Unavailable(said, where, "the same command later goes on from here")


def _of_xet(error: OSError, where: str) -> CsbdataError:
    """Return what a failure of the upload over Xet means.

    `hf_xet` raises Python's own connection errors, and gives the status as text.
    """
    said = redacted(str(error))
    found = _XET_STATUS.search(said)
    code = int(found[1]) if found else 0
    shown = f"the Hub's storage answers {code}" if code else said
    if code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return NotPermitted(shown, where, "use a token that may write there")
    if code in _NO_ROOM:
        return NotPermitted(f"{shown}: no room left", where, _MAKE_ROOM)
    if code == httpx.codes.NOT_FOUND:
        return NoInput(
            f"{shown}: it has nothing of that name, or shows it to others only",
            where,
            _LOGIN,
        )
    if code == LIMITED or code in _GONE_AHEAD:
        return TemporarilyUnavailable(shown, where, "the same command later goes on")
    if code and code != _TIMEOUT and code < _SERVER_ERROR:
        return BadData(f"{shown}: {said}", where)
    return Unavailable(shown, where, "the same command later goes on from here")


def _innermost_text(error: BaseException) -> str:
    innermost = list(_chain(error))[-1]
    return redacted(str(innermost) or type(innermost).__name__)


def _of_answer(error: errors.HfHubHTTPError, where: str) -> CsbdataError:
    code = error.response.status_code
    said = redacted(error.server_message or "")
    shown = f"the Hub answers {code}" + (f" ({said})" if said else "")
    if isinstance(error, errors.GatedRepoError):
        return NotPermitted(
            "it is gated", where, "ask for access on its page, then: hf auth login"
        )
    if code == httpx.codes.UNAUTHORIZED:
        return NotPermitted(f"{shown}: no token that it knows", where, _LOGIN)
    if code in _NO_ROOM or (code == httpx.codes.FORBIDDEN and _QUOTA.search(said)):
        return NotPermitted(f"{shown}: no room left", where, _MAKE_ROOM)
    if code == httpx.codes.FORBIDDEN:
        return NotPermitted(shown, where, "use a token that may write there")
    if isinstance(error, errors.RevisionNotFoundError | errors.EntryNotFoundError):
        return NoInput("the Hub has no such revision or file", where)
    if code == httpx.codes.NOT_FOUND:
        return NoInput(
            "the Hub has nothing of that name, or shows it to others only",
            where,
            _LOGIN,
        )
    if code == LIMITED or code in _GONE_AHEAD:
        return TemporarilyUnavailable(shown, where, "the same command later goes on")
    if code < _SERVER_ERROR:
        return BadData(f"{shown}: {redacted(str(error))}", where)
    return Unavailable(shown, where, "the same command later goes on from here")
