"""Download one file: requests gets it, pooch verifies it, stamina repeats."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

import pooch
import requests
import urllib3

from curation.system.atomic_files import writing
from curation.system.errors import (
    CsbdataError,
    TemporarilyUnavailable,
    Unavailable,
    WrongDigest,
)
from curation.system.retry import retry_after, retry_call

_LATER = "run the same command later"
#: Seconds to connect, and without a byte.
_TIMEOUTS = (4.0, 20.0)
_LIMITED, _SERVER_ERROR = 429, 500
_GONE = frozenset({404, 410, 451})
#: Requests of one file, seconds before the second one, and the longest wait that a
#: server may ask for.
_ATTEMPTS = 4
PAUSE = 0.5
_MAX_WAIT = 60.0
pooch.get_logger().setLevel("ERROR")


class Unreachable(Unavailable):
    """A host that does not answer; it need not be asked again."""


def download(url: str, file: Path, sha256: str = "") -> None:
    """Download a file, unless it is already there with its digest.

    The file appears whole, and after it is verified.

    Args:
        url: Its address.
        file: Where it is written.
        sha256: Its digest; empty if none is known.

    Raises:
        Unreachable: the host does not answer.
        Unavailable: the host has no such file, the server fails, or the connection
            breaks.
        TemporarilyUnavailable: the server limits the rate.
        WrongDigest: the file has another digest.
        CannotCreate: the file cannot be written.
    """
    where = shown_url(url)
    files = pooch.create(
        path=file.parent,
        base_url="",
        registry={file.name: sha256 or None},
        urls={file.name: url},
    )
    with writing(file):
        try:
            retry_call(
                lambda: files.fetch(file.name, downloader=_save),
                _may_pass,
                _ATTEMPTS,
                PAUSE,
            )
        except requests.HTTPError as error:
            raise _of_answer(error.response, where) from error
        except requests.RequestException as error:
            message = f"the connection broke off ({_reason(error)})"
            raise Unavailable(message, where, _LATER) from error
        except ValueError as error:
            raise WrongDigest(str(error).partition(". ")[0], where) from error


def _save(url: str, file: str, _files: object) -> None:
    """Write the body of an answer to a file, as pooch asks."""
    headers = {"User-Agent": f"csbdata/{version('csbdata')}"}
    try:
        answer = requests.get(url, stream=True, timeout=_TIMEOUTS, headers=headers)
    except requests.RequestException as error:
        if isinstance(next(iter(error.args), None), urllib3.exceptions.ProtocolError):
            # The connection existed, and broke.
            raise
        message = f"does not answer ({_reason(error)})"
        raise Unreachable(message, shown_url(url), _LATER) from error
    with answer, Path(file).open("wb") as sink:
        answer.raise_for_status()
        sink.writelines(answer.iter_content(1 << 16))


def _may_pass(error: Exception) -> bool | float:
    """Return whether to try again, or the seconds that the server asks to wait."""
    if not isinstance(error, requests.HTTPError):
        return isinstance(error, requests.RequestException)
    wait = retry_after(error.response.headers)
    status = error.response.status_code
    if wait is None:
        return status == _LIMITED or status >= _SERVER_ERROR
    return wait if wait <= _MAX_WAIT else False


def _of_answer(answer: requests.Response, where: str) -> CsbdataError:
    """Return the error of an answer without the file."""
    status = answer.status_code
    message = f"answers {status} {answer.reason}"
    if wait := retry_after(answer.headers):
        message += f" and asks to wait {wait:,.0f} seconds"
    if wait or status == _LIMITED:
        return TemporarilyUnavailable(message, where, _LATER)
    if status in _GONE:
        return Unavailable(message, where, "what is pinned is no longer there")
    return Unavailable(message, where, _LATER if status >= _SERVER_ERROR else "")


def shown_url(url: str) -> str:
    """Return an address without credentials, query and fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _reason(error: BaseException) -> str:
    """Return the innermost reason of a failed connection."""
    inner = getattr(error, "reason", None) or next(iter(error.args), None)
    if isinstance(inner, BaseException):
        return _reason(inner)
    return str(error).rpartition(": ")[2] or type(error).__name__
