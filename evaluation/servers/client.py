"""Asking a server for one text, and asking again where that may help.

429, 5xx, cut streams and lost connections are tried again within a budget of tries
and seconds; `Retry-After` is honoured. The key is taken from the environment, sent to
the server it belongs to, and never printed or recorded.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

import requests
from urllib3.exceptions import HTTPError

from curation.system.errors import BadConfiguration, NotPermitted, Unavailable
from curation.system.retry import RetryPolicy, retry_after
from evaluation.servers.event_stream import BrokenStream, ServerAnswer, read_stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import Json

#: Paths at which servers describe themselves, beside their list of models.
_SELF_DESCRIPTIONS: Final = ("/version", "/props", "/get_server_info")
_CONNECT_SECONDS: Final = 10.0
#: Most bytes of one answer; the longest text that a model here may write has less.
_MOST_BYTES: Final = 32 * 2**20
#: Bytes of an error's text that are repeated in ours.
_REPEATED_BYTES: Final = 300
_TRY_LATER: Final = (408, 409, 425, 429)
_REFUSED: Final = (400, 413, 422)
_FORBIDDEN: Final = (401, 403)


class RequestRefused(Exception):  # noqa: N818 (it says what it is)
    """The server does not take the request: the schema, or its size."""


class RetriesExhausted(Exception):  # noqa: N818 (it says what it is)
    """No whole answer came within the budget of tries and seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """How long one text may take, and how often it is asked for."""

    #: Seconds for one try.
    seconds: float = 40.0
    #: Seconds for all waits between tries together.
    waiting: float = 120.0
    retry: RetryPolicy = field(
        default_factory=lambda: RetryPolicy(attempts=5, first_pause=1.0)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConnection:
    """Which model of which server is asked; the same for every text."""

    #: Ends in `/v1` or the like, without a slash.
    base: str
    model: str
    #: Environment variables that may hold the key.
    keys: tuple[str, ...]
    limits: RequestLimits = field(default_factory=RequestLimits)

    def key(self) -> str:
        """Return the key; empty where there is none: a local server needs none."""
        return next((os.environ[name] for name in self.keys if os.getenv(name)), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDescription:
    """How a server describes itself."""

    #: The ids of its models.
    models: tuple[str, ...]
    #: What it answers at `version`, `props` and `get_server_info`, where it does.
    answers: Mapping[str, Json]

    def as_json(self) -> dict[str, Json]:
        """Return the description as a run's header records it."""
        return {"models": list(self.models), **self.answers}


def split_address(address: str) -> tuple[str, str]:
    """Return a server's base and the model's name, which follows a `#`.

    Example:
        >>> split_address("http://localhost:8000/v1#Qwen/Qwen3-0.6B")
        ('http://localhost:8000/v1', 'Qwen/Qwen3-0.6B')
    """
    base, _, model = address.partition("#")
    return base.rstrip("/"), model


class ServerClient:
    """A connection to one server."""

    def __init__(self, connection: ServerConnection) -> None:
        """Prepare; nothing is sent yet."""
        self._connection = connection
        self._session = requests.Session()
        # Neither a proxy nor a .netrc may see or add what we do not mean.
        self._session.trust_env = False
        key = connection.key()
        if key:
            self._session.headers["Authorization"] = f"Bearer {key}"

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def description(self) -> ServerDescription:
        """Return how the server describes itself.

        Raises:
            Unavailable: no server answers.
            NotPermitted: the key is missing or wrong (exit 77).
        """
        base = self._connection.base
        models = self._get(f"{base}/models")
        if models is None:
            raise Unavailable("no server answers", base, "start one, or name another")
        root = base.rpartition("/")[0]
        answers = {path: self._get(f"{root}{path}") for path in _SELF_DESCRIPTIONS}
        return ServerDescription(
            models=_model_ids(models),
            answers={
                path.strip("/"): answer for path, answer in answers.items() if answer
            },
        )

    def _get(self, url: str) -> dict[str, Json] | None:
        """Return the JSON object at an address; None where there is none."""
        limit = time.monotonic() + _CONNECT_SECONDS
        try:
            with self._session.get(
                url, timeout=_CONNECT_SECONDS, allow_redirects=False, stream=True
            ) as response:
                if response.status_code in _FORBIDDEN:
                    raise self._forbidden(response)
                text = b"".join(_pieces(response, limit)) if response.ok else b""
                found = json.loads(text or b"null")
        except (requests.RequestException, HTTPError, BrokenStream, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def ask(self, body: Mapping[str, Json]) -> tuple[ServerAnswer, int]:
        """Ask for one text.

        Args:
            body: Members of the request beside `model` and `stream`.

        Returns:
            The answer, and the moment at which the try that gave it began
            (`perf_counter_ns`).

        Raises:
            RequestRefused: the server does not take the request.
            RetriesExhausted: no whole answer came.
            NotPermitted: the key is missing or wrong (exit 77).
        """
        limits = self._connection.limits
        tries, waited = 0, 0.0

        def ask_once() -> tuple[ServerAnswer, int]:
            nonlocal tries
            tries += 1
            start = perf_counter_ns()
            return self._ask_once(body), start

        def wait_before_next(error: Exception) -> bool | float:
            nonlocal waited
            if not isinstance(error, _TryAgain) or tries == limits.retry.attempts:
                return False
            wait = max(error.wait, limits.retry.first_pause * float(2 ** (tries - 1)))
            if waited + wait > limits.waiting:
                return False
            waited += wait
            return wait

        try:
            return limits.retry.call(ask_once, wait_before_next)
        except _TryAgain as trouble:
            what = f"{trouble}; {tries} tries, {waited:.0f} s waited"
            raise RetriesExhausted(what) from None

    def _ask_once(self, body: Mapping[str, Json]) -> ServerAnswer:
        seconds = self._connection.limits.seconds
        limit = time.monotonic() + seconds
        try:
            with self._session.post(
                f"{self._connection.base}/chat/completions",
                json={"model": self._connection.model, "stream": True, **body},
                stream=True,
                timeout=(_CONNECT_SECONDS, seconds),
                allow_redirects=False,
            ) as response:
                self._check_status(response)
                return read_stream(_lines(response, limit))
        except BrokenStream as error:
            raise _TryAgain(str(error)) from None
        except requests.Timeout:
            raise _TryAgain("no answer in time") from None
        except (requests.RequestException, HTTPError) as error:
            # Its text may repeat the address; its kind says enough.
            raise _TryAgain(f"connection lost ({type(error).__name__})") from None

    def _check_status(self, response: requests.Response) -> None:
        """Raise what a status other than success means."""
        status = response.status_code
        if status < 300:  # noqa: PLR2004 (success)
            return
        if status in _FORBIDDEN:
            raise self._forbidden(response)
        text = self._beginning(response)
        if status in _REFUSED:
            raise RequestRefused(f"HTTP {status}: {text}")
        if status in _TRY_LATER or status >= 500:  # noqa: PLR2004 (the server's trouble)
            wait = retry_after(response.headers)
            raise _TryAgain(f"HTTP {status}: {text}", wait or 0.0)
        raise BadConfiguration(
            f"the server answers HTTP {status}: {text}",
            self._connection.base,
            "look at the address; it ends in /v1 as a rule",
        )

    def _forbidden(self, response: requests.Response) -> NotPermitted:
        return NotPermitted(
            f"the server answers HTTP {response.status_code}",
            self._connection.base,
            f"set {' or '.join(self._connection.keys)} to a key of this server",
        )

    def _beginning(self, response: requests.Response) -> str:
        """Return how an error's text begins, without the key."""
        content = response.raw.read(_REPEATED_BYTES, decode_content=True)
        text = content.decode("utf-8", "replace")
        key = self._connection.key()
        return text.replace(key, "***") if key else text


class _TryAgain(Exception):  # noqa: N818 (it says what it is)
    """A trouble that may pass; `wait` are the seconds that the server asks for."""

    def __init__(self, why: str, wait: float = 0.0) -> None:
        super().__init__(why)
        self.wait = wait


def _model_ids(models: Mapping[str, Json]) -> tuple[str, ...]:
    listed = models.get("data")
    return tuple(
        str(model.get("id"))
        for model in (listed if isinstance(listed, list) else ())
        if isinstance(model, dict)
    )


def _pieces(response: requests.Response, limit: float) -> Iterator[bytes]:
    """Yield a response as it comes; a server may send for ever, with no line's end.

    Args:
        response: A response whose content has not been read.
        limit: The moment at which it must have ended, by `time.monotonic`.

    Raises:
        BrokenStream: it has lasted too long, or is too large.
    """
    size = 0
    while piece := response.raw.read1(2**16, decode_content=True):
        size += len(piece)
        if size > _MOST_BYTES:
            raise BrokenStream(f"an answer of over {_MOST_BYTES:,} bytes")
        if time.monotonic() > limit:
            raise BrokenStream("not through in time")
        yield piece


def _lines(response: requests.Response, limit: float) -> Iterator[bytes]:
    """Yield the lines of a response as they come, without their ends."""
    begun: list[bytes] = []
    for piece in _pieces(response, limit):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            yield b"".join([*begun, end])
            begun = []
        begun.append(rest)
    yield b"".join(begun)
