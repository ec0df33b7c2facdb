"""Asking a server for one text, through whatever it does on the way.

429, 5xx, cut streams and lost connections are tried again within a budget of tries
and seconds; `Retry-After` is honoured. The key is taken from the environment, sent to
the server it belongs to, and found nowhere else.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

import requests
from urllib3.exceptions import HTTPError

from curation.system.errors import BadConfiguration, NotPermitted, Unavailable
from evaluation.servers.event_stream import BrokenStream, ServerAnswer, read_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from curation.core.json_types import UntypedJson

#: Where servers tell of themselves, beside their list of models.
_ABOUT: Final = ("/version", "/props", "/get_server_info")
_CONNECT_SECONDS: Final = 10.0
#: Most bytes of one answer; the longest text that a model here may write has less.
_MOST: Final = 32 * 2**20
#: Bytes of a refusal that are worth telling.
_SAID: Final = 300
_LATER: Final = (408, 409, 425, 429)
_REFUSED: Final = (400, 413, 422)
_FORBIDDEN: Final = (401, 403)


class RequestRefused(Exception):  # noqa: N818 (it says what it is)
    """The server does not take the request: the schema, or its size."""


class RetriesExhausted(Exception):  # noqa: N818 (it says what it is)
    """No whole answer came within the budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryBudget:
    """How much trouble one text may be."""

    tries: int = 5
    #: Seconds for one try.
    seconds: float = 40.0
    #: Seconds for all waits between tries together.
    waiting: float = 120.0
    #: Seconds before the second try; doubled before each further one.
    first_wait: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConnection:
    """What is the same for every text."""

    #: Ends in `/v1` or the like, without a slash.
    base: str
    model: str
    #: Environment variables that may hold the key.
    keys: tuple[str, ...]
    patience: RetryBudget = RetryBudget()

    def key(self) -> str:
        """Return the key; empty where there is none, which a server here needs not."""
        return next((os.environ[name] for name in self.keys if os.getenv(name)), "")


def split_address(address: str) -> tuple[str, str]:
    """Return a server's base and the model's name, which follows a `#`."""
    base, _, model = address.partition("#")
    return base.rstrip("/"), model


class ServerClient:
    """A connection to one server."""

    def __init__(
        self, asking: ServerConnection, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """Say whom to ask; nothing is sent yet."""
        self._asking = asking
        self._sleep = sleep
        self._session = requests.Session()
        # Neither a proxy nor a .netrc may see or add what we do not mean.
        self._session.trust_env = False
        key = asking.key()
        if key:
            self._session.headers["Authorization"] = f"Bearer {key}"

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def about(self) -> dict[str, UntypedJson]:
        """Return what the server says of itself: models, version, engine.

        Raises:
            Unavailable: nobody answers.
        """
        models = self._get(f"{self._asking.base}/models")
        if models is None:
            raise Unavailable(
                "no server answers", self._asking.base, "start one, or name another"
            )
        root = self._asking.base.rpartition("/")[0]
        told = {path: self._get(f"{root}{path}") for path in _ABOUT}
        return {
            "models": [str(each.get("id")) for each in models.get("data") or ()],
            **{path.strip("/"): each for path, each in told.items() if each},
        }

    def _get(self, url: str) -> dict[str, UntypedJson] | None:
        limit = time.monotonic() + _CONNECT_SECONDS
        try:
            with self._session.get(
                url, timeout=_CONNECT_SECONDS, allow_redirects=False, stream=True
            ) as answer:
                if answer.status_code in _FORBIDDEN:
                    raise self._forbidden(answer)
                text = b"".join(_pieces(answer, limit)) if answer.ok else b""
                found = json.loads(text or b"null")
        except (requests.RequestException, HTTPError, BrokenStream, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def ask(self, body: Mapping[str, UntypedJson]) -> tuple[ServerAnswer, int]:
        """Return the answer to a request, and when the try that gave it began.

        Raises:
            Refused: the server does not take the request.
            GaveUp: no whole answer came.
            NotPermitted: the key is missing or wrong (exit 77).
        """
        patience = self._asking.patience
        wait, waited, why = patience.first_wait, 0.0, ""
        for number in range(patience.tries):
            if number:
                if waited + wait > patience.waiting:
                    break
                self._sleep(wait)
                waited += wait
            start = perf_counter_ns()
            try:
                return self._once(body), start
            except _TryAgain as trouble:
                why = str(trouble)
                wait = max(trouble.wait, patience.first_wait * 2**number)
        raise RetriesExhausted(f"{why}; {number + 1} tries, {waited:.0f} s waited")

    def _once(self, body: Mapping[str, UntypedJson]) -> ServerAnswer:
        limit = time.monotonic() + self._asking.patience.seconds
        try:
            with self._session.post(
                f"{self._asking.base}/chat/completions",
                json={"model": self._asking.model, "stream": True, **body},
                stream=True,
                timeout=(_CONNECT_SECONDS, self._asking.patience.seconds),
                allow_redirects=False,
            ) as answer:
                self._look(answer)
                return read_stream(_lines(answer, limit))
        except BrokenStream as error:
            raise _TryAgain(str(error)) from None
        except requests.Timeout:
            raise _TryAgain("no answer in time") from None
        except (requests.RequestException, HTTPError) as error:
            # Its text may repeat the address; its kind says enough.
            raise _TryAgain(f"connection lost ({type(error).__name__})") from None

    def _look(self, answer: requests.Response) -> None:
        status = answer.status_code
        if status < 300:  # noqa: PLR2004 (success)
            return
        if status in _FORBIDDEN:
            raise self._forbidden(answer)
        said = self._said(answer)
        if status in _REFUSED:
            raise RequestRefused(f"HTTP {status}: {said}")
        if status in _LATER or status >= 500:  # noqa: PLR2004 (the server's trouble)
            raise _TryAgain(f"HTTP {status}: {said}", _retry_after(answer))
        raise BadConfiguration(
            f"the server answers HTTP {status}: {said}",
            self._asking.base,
            "look at the address; it ends in /v1 as a rule",
        )

    def _forbidden(self, answer: requests.Response) -> NotPermitted:
        return NotPermitted(
            f"the server answers HTTP {answer.status_code}",
            self._asking.base,
            f"set {' or '.join(self._asking.keys)} to a key of this server",
        )

    def _said(self, answer: requests.Response) -> str:
        text = answer.raw.read(_SAID, decode_content=True).decode("utf-8", "replace")
        key = self._asking.key()
        return text.replace(key, "***") if key else text


class _TryAgain(Exception):  # noqa: N818 (it says what it is)
    """A trouble that may pass."""

    def __init__(self, why: str, wait: float = 0.0) -> None:
        super().__init__(why)
        self.wait = wait


def _retry_after(answer: requests.Response) -> float:
    try:
        return max(0.0, float(answer.headers.get("Retry-After", "")))
    except ValueError:
        return 0.0


def _pieces(answer: requests.Response, limit: float) -> Iterator[bytes]:
    """Yield an answer as it comes; a server may send for ever, with no line's end.

    Raises:
        BrokenStream: the clock or the size says that it is enough.
    """
    size = 0
    while piece := answer.raw.read1(2**16, decode_content=True):
        size += len(piece)
        if size > _MOST:
            raise BrokenStream(f"an answer of over {_MOST:,} bytes")
        if time.monotonic() > limit:
            raise BrokenStream("not through in time")
        yield piece


def _lines(answer: requests.Response, limit: float) -> Iterator[bytes]:
    """Yield the lines of an answer as they come, without their ends."""
    begun: list[bytes] = []
    for piece in _pieces(answer, limit):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            yield b"".join([*begun, end])
            begun = []
        begun.append(rest)
    yield b"".join(begun)
