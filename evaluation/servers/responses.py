"""Read a server's response: its lines, the streamed answer, or the refusal.

A stream has server-sent events (HTML standard, section 9.2), each a line `data: ` with
a JSON object, of OpenAI's chat completions `data: [DONE]` at the end. A server that
does not stream answers with one JSON object, which is one
piece. Refusals are JSON objects, too: `{"error": {"message", "param", "code"}}`, or
FastAPI's `{"detail": [{"loc", "msg"}]}`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from time import perf_counter_ns
from typing import Final, TypeVar

import msgspec
import requests
from urllib3.exceptions import HTTPError

from curation.core.json_types import Json
from curation.system.escaping import shortened

_DATA: Final = b"data:"
_DONE: Final = b"[DONE]"
#: Characters of a server's own error that are repeated.
_LONGEST_ERROR: Final = 200
#: No answer has as many tokens.
_MOST_TOKENS: Final = 2**40
_Event = TypeVar("_Event", bound="StreamEvent")


class BrokenStream(Exception):  # noqa: N818 (it says what it is)
    """The stream ended before the answer did, or holds what is no event."""


class StreamEvent(msgspec.Struct):
    """One event of a stream; what else is in it is not read."""

    #: Undecoded: servers differ in what they put here.
    error: msgspec.Raw = msgspec.Raw()


@dataclass(slots=True)
class ServerAnswer:
    """What has come of an answer so far."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    #: `stop`, `length`, `content_filter`, ...; empty before the end.
    finish: str = ""
    #: As the server counted them; None where it did not say.
    prompt_tokens: int | None = None
    #: Those of the reasoning are among them.
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    #: The moment of every piece of text (`perf_counter_ns`), and its characters.
    pieces: list[tuple[int, int]] = field(default_factory=list)

    def write(self, text: str) -> None:
        """Add a piece of text, at the present moment."""
        if text:
            self.text += text
            self.pieces.append((perf_counter_ns(), len(text)))

    def count(
        self, prompt: float | None, output: float | None, reasoning: float | None = None
    ) -> None:
        """Take the tokens that the server counted; a figure no server can mean is none.

        Args:
            prompt: Those of the prompt.
            output: All of the answer, those of the reasoning among them.
            reasoning: Those of the reasoning.
        """
        self.prompt_tokens, self.output_tokens, self.reasoning_tokens = (
            int(number) if number is not None and 0 <= number < _MOST_TOKENS else None
            for number in (prompt, output, reasoning)
        )

    @property
    def tokens(self) -> int:
        """All tokens that the server counted; 0 where it did not say."""
        return (self.prompt_tokens or 0) + (self.output_tokens or 0)

    @property
    def begun(self) -> bool:
        """Whether the model has written anything, be it a thought or a refusal."""
        return bool(self.text or self.reasoning or self.refusal)


def read_stream(
    lines: Iterable[bytes],
    answer: ServerAnswer,
    read: Callable[[bytes, ServerAnswer], None],
) -> None:
    """Read the whole answer of a stream; lines after `[DONE]` are left unread.

    Args:
        lines: The lines of the response as they come, without their ends.
        answer: Is filled as they come, so that what came is there whatever happens.
        read: Adds what an event says to the answer.

    Raises:
        BrokenStream: it has no end, or the server reports an error in it.
    """
    other: list[bytes] = []
    for line in lines:
        if not line.startswith(_DATA):
            other.append(line)
            continue
        data = line[len(_DATA) :].strip()
        if data == _DONE:
            break
        read(data, answer)
    whole = b"\n".join(other).strip()
    if whole.startswith(b"{") and not answer.begun:
        read(whole, answer)
    if not answer.finish:
        page = shortened(whole.decode("utf-8", "replace"), 40)
        seen = f": {page!r}" if page.startswith("<") else ""
        raise BrokenStream(f"the stream ended before the answer did{seen}")


def decode_event(data: bytes, kind: type[_Event]) -> _Event:
    """Return one event.

    Raises:
        BrokenStream: it has another form, or reports an error.
    """
    try:
        event = msgspec.json.decode(data, type=kind)
        error = msgspec.json.decode(event.error) if event.error else None
    except msgspec.ValidationError:
        raise BrokenStream("an event of another form") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BrokenStream("an event that is not JSON") from None
    except RecursionError:
        raise BrokenStream("an event that nests too deeply") from None
    if error:
        raise BrokenStream(f"the server says: {str(error)[:_LONGEST_ERROR]}")
    return event


#: Most bytes of one answer; the longest text that a model here may write has less.
_MOST_BYTES: Final = 32 * 2**20
#: Bytes that are read of an error's text, or behind the end of an answer.
_SOME_BYTES: Final = 2**16


class TooLate(Exception):  # noqa: N818 (it says what it is)
    """The deadline passed before the response had ended."""


def response_pieces(
    response: requests.Response, limit: float, most: int | None = None
) -> Iterator[bytes]:
    """Yield a response as it comes; a server may send for ever, with no line's end.

    Args:
        response: A response whose content has not been read.
        limit: The moment at which it must have ended, by `time.monotonic`.
        most: Bytes that it may have; None for one answer.

    Raises:
        TooLate: it has lasted too long.
        BrokenStream: it is too large.
    """
    size, most = 0, _MOST_BYTES if most is None else most
    while piece := _next_piece(response, limit):
        size += len(piece)
        if size > most:
            raise BrokenStream(f"an answer of over {most:,} bytes")
        yield piece


def _next_piece(response: requests.Response, limit: float) -> bytes:
    remaining = limit - time.monotonic()
    if remaining <= 0:
        raise TooLate
    connection = response.raw.connection
    if connection is not None and connection.sock is not None:
        connection.sock.settimeout(remaining)
    return bytes(response.raw.read1(2**16, decode_content=True))


def response_lines(response: requests.Response, limit: float) -> Iterator[bytes]:
    """Yield the lines of a response as they come, without their ends.

    See `response_pieces` for its arguments and what it raises.
    """
    begun: list[bytes] = []
    for piece in response_pieces(response, limit):
        *ends, tail = piece.split(b"\n")
        for end in ends:
            yield b"".join([*begun, end])
            begun = []
        begun.append(tail)
    yield b"".join(begun)


def read_some(response: requests.Response, seconds: float = 5.0) -> bytes:
    """Return what is left of a response, as much of it as comes in time."""
    start = b""
    limit = time.monotonic() + seconds
    with suppress(TooLate, HTTPError, requests.RequestException):
        while len(start) < _SOME_BYTES and (piece := _next_piece(response, limit)):
            start += piece
    return start[:_SOME_BYTES]


#: Characters of a server's words that are repeated.
_SHOWN: Final = 300
#: Members of a request that hold a schema, by how their names begin.
_OF_SCHEMA: Final = (
    *("response_format", "structured_outputs", "guided_", "json_schema", "grammar"),
    *("text.format", "generationconfig.responseschema"),
)
_LONG: Final = re.compile(
    r"context[ _](?:length|size|window)|maximum (?:model|context) len|too many tokens"
    r"|(?:prompt|input) is too long|exceed\w* .{0,40}(?:context|max_model_len)",
    re.IGNORECASE,
)
_FILTER: Final = re.compile(
    r"content[ _](?:filter|management|policy)|responsibleai", re.IGNORECASE
)
_SCHEMA: Final = re.compile(
    r"schema|grammar|response_format|structured[ _]output|keyword|\$ref", re.IGNORECASE
)


class RefusalCause(Enum):
    """What a request is refused for."""

    SCHEMA = auto()
    CONTEXT = auto()
    """The prompt and the answer's budget do not fit into the model's context."""
    FILTER = auto()
    """The provider's content filter does not let the prompt pass."""
    OTHER = auto()
    """Another member of the request: `temperature`, `seed`, ..."""
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalWords:
    """A server's answer to a request that it does not take."""

    message: str
    #: The member of the request that is refused, where it is named.
    parameter: str = ""
    code: str = ""

    @property
    def cause(self) -> RefusalCause:
        """What the request is refused for, as far as the words tell."""
        words = f"{self.code} {self.message}"
        if _FILTER.search(words):
            return RefusalCause.FILTER
        if _LONG.search(words):
            return RefusalCause.CONTEXT
        if self.parameter:
            named = self.parameter.lower().startswith(_OF_SCHEMA)
            return RefusalCause.SCHEMA if named else RefusalCause.OTHER
        match = _SCHEMA.search(words)
        return RefusalCause.SCHEMA if match else RefusalCause.UNKNOWN

    def __str__(self) -> str:
        """Return the words, with the member that they are about."""
        about = f"{self.parameter}: " if self.parameter else ""
        return shortened(f"{about}{self.message}", _SHOWN)


def read_refusal(body: str) -> RefusalWords:
    """Return what the body of a refusal says.

    Example:
        >>> read_refusal('{"error": {"message": "no", "param": "temperature"}}').cause
        <RefusalCause.OTHER: 4>
    """
    try:
        refusal: Json = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return RefusalWords(message=body)
    if not isinstance(refusal, dict):
        return RefusalWords(message=body)
    complaints = refusal.get("detail")
    if isinstance(complaints, list) and complaints and isinstance(complaints[0], dict):
        return _of_fastapi(complaints[0])
    error = refusal.get("error", refusal)
    if not isinstance(error, dict):
        return RefusalWords(message=str(error))
    message = error.get("message") or error.get("detail") or body
    return RefusalWords(
        message=str(message),
        parameter=str(error.get("param") or ""),
        code=str(error.get("code") or error.get("type") or ""),
    )


def _of_fastapi(first: dict[str, Json]) -> RefusalWords:
    """Return the first complaint of a list; its `input` repeats the request."""
    where = first.get("loc")
    path = [str(part) for part in where] if isinstance(where, list) else []
    return RefusalWords(
        message=str(first.get("msg", "")),
        parameter=".".join(part for part in path if part != "body"),
    )
