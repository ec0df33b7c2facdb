"""Download one file: pooch verifies it, requests waits as the server asks."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pooch
import requests
import urllib3
from requests.adapters import HTTPAdapter

from curation.system.atomic_files import writing
from curation.system.errors import (
    NoLongerThere,
    TemporarilyUnavailable,
    Unavailable,
    WrongDigest,
)

_LATER: Final = "run the same command later"
#: Seconds to connect, and without a byte.
_TIMEOUTS: Final = (4.0, 20.0)
_LIMITED, _SERVER_ERROR = 429, 500
_GONE: Final = frozenset({404, 410, 451})
#: A failing server is asked again after growing pauses, or when `Retry-After` says,
#: within two minutes.
RETRIES: Final = urllib3.Retry(
    total=3,
    connect=1,
    backoff_factor=0.5,
    status_forcelist=(_LIMITED, 500, 502, 503, 504),
    raise_on_status=False,
    retry_after_max=120,
)
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
        NoLongerThere: the host has no such file.
        Unavailable: the server fails, or the connection breaks.
        TemporarilyUnavailable: the server limits the rate.
        WrongDigest: the file has another digest.
        CannotCreate: the file cannot be written.
    """
    files = pooch.create(
        path=file.parent,
        base_url="",
        registry={file.name: sha256 or None},
        urls={file.name: url},
        retry_if_failed=1,
    )
    with writing(file):
        try:
            files.fetch(file.name, downloader=_save)
        except requests.RequestException as error:
            what = f"the connection broke off ({_reason(error)})"
            raise Unavailable(what, shown_url(url), _LATER) from error
        except ValueError as error:
            what = str(error).partition(". ")[0]
            raise WrongDigest(what, shown_url(url)) from error


def _save(url: str, file: str, _files: object) -> None:
    """Write the body of an answer to a file, as pooch asks."""
    with requests.Session() as session:
        for scheme in ("https://", "http://"):
            session.mount(scheme, HTTPAdapter(max_retries=RETRIES))
        session.headers["User-Agent"] = f"csbdata/{version('csbdata')}"
        try:
            answer = session.get(url, stream=True, timeout=_TIMEOUTS)
        except requests.RequestException as error:
            what = f"does not answer ({_reason(error)})"
            raise Unreachable(what, shown_url(url), _LATER) from error
        _refuse_failure(answer, shown_url(url))
        with Path(file).open("wb") as sink:
            sink.writelines(answer.iter_content(1 << 16))


def _refuse_failure(answer: requests.Response, where: str) -> None:
    """Raise the error of an answer without the file."""
    status = answer.status_code
    what = f"answers {status} {answer.reason}"
    if status == _LIMITED:
        raise TemporarilyUnavailable(what, where, _LATER)
    if status in _GONE:
        raise NoLongerThere(what, where, "what is pinned is no longer there")
    if not answer.ok:
        hint = _LATER if status >= _SERVER_ERROR else ""
        raise Unavailable(what, where, hint)


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
