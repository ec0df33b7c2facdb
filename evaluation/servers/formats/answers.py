"""Read a server's response: its lines, and the streamed answer.

A stream has server-sent events (HTML standard, section 9.2), each a line `data: ` with
a JSON object, of OpenAI's chat completions `data: [DONE]` at the end. A server that
does not stream answers with one JSON object, which is one piece.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Final, TypeVar

import msgspec
import requests
from urllib3.exceptions import HTTPError

from curation.system.words import shortened

_DATA: Final = b"data:"
_DONE: Final = b"[DONE]"
#: No answer has as many tokens.
_MOST_TOKENS: Final = 2**40
_Event = TypeVar("_Event", bound="StreamEvent")


class BrokenStream(Exception):  # noqa: N818 (named by its meaning)
    """The stream ended before the answer did, or holds an invalid event."""


class ErrorEvent(Exception):  # noqa: N818 (named by its meaning)
    """The server reports an error inside a response that began well."""

    def __init__(self, body: str) -> None:
        """Take the event, as JSON."""
        super().__init__(body)
        self.body = body


class StreamEvent(msgspec.Struct):
    """One event of a stream; what else is in it is not read."""

    #: Undecoded: servers differ in its form.
    error: msgspec.Raw = msgspec.Raw()


@dataclass(slots=True)
class ServerAnswer:
    """What has come of an answer so far."""

    text: str = ""
    #: With which a tool was called: the answer, where a tool was forced.
    arguments: str = ""
    reasoning: str = ""
    refusal: str = ""
    #: `stop`, `length`, `content_filter`, ...; empty before the end.
    finish: str = ""
    #: As the server counted them; None without a count.
    prompt_tokens: int | None = None
    #: Those of the reasoning are among them.
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    #: The moment of every piece of text (`perf_counter_ns`), and its characters.
    pieces: list[tuple[int, int]] = field(default_factory=list)
    argument_pieces: list[tuple[int, int]] = field(default_factory=list)

    def write(self, text: str) -> None:
        """Add a piece of text, at the present moment."""
        if text:
            self.text += text
            self.pieces.append((perf_counter_ns(), len(text)))

    def call(self, arguments: str) -> None:
        """Add a piece of the arguments of a tool, at the present moment."""
        if arguments:
            self.arguments += arguments
            self.argument_pieces.append((perf_counter_ns(), len(arguments)))

    def take_call(self) -> None:
        """Have the arguments of the tool as the text, if it was called at all."""
        if self.arguments:
            self.text, self.pieces = self.arguments, self.argument_pieces

    def count(
        self, prompt: float | None, output: float | None, reasoning: float | None = None
    ) -> None:
        """Take the server's token counts; an impossible figure does not count.

        Args:
            prompt: Those of the prompt.
            output: All of the answer, the reasoning included.
            reasoning: Those of the reasoning.
        """
        self.prompt_tokens, self.output_tokens, self.reasoning_tokens = (
            int(number) if number is not None and 0 <= number < _MOST_TOKENS else None
            for number in (prompt, output, reasoning)
        )

    @property
    def begun(self) -> bool:
        """Whether the model has written anything, be it a thought or a refusal."""
        return bool(self.text or self.arguments or self.reasoning or self.refusal)


def read_stream(
    lines: Iterable[bytes],
    answer: ServerAnswer,
    read: Callable[[bytes, ServerAnswer], None],
    prefix: bytes = _DATA,
) -> None:
    """Read the whole answer of a stream; lines after `[DONE]` are left unread.

    Args:
        lines: The lines of the response as they come, without their ends.
        answer: Is filled as they come, so that a partial answer survives.
        read: Adds an event to the answer.
        prefix: What the line of an event begins with.

    Raises:
        BrokenStream: it has no end.
        ErrorEvent: the server reports an error in it.
    """
    other: list[bytes] = []
    for line in lines:
        data = line.removeprefix(_DATA).strip()
        if not line.startswith(prefix) or not data:
            other.append(line)
            continue
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
        BrokenStream: it has another form.
        ErrorEvent: it reports an error.
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
        raise ErrorEvent(json.dumps({"error": error}))
    return event


#: Most bytes of one answer; the longest text that a model here may write has less.
_MOST_BYTES: Final = 32 * 2**20
#: Bytes read of an error's text, or after the end of an answer.
_SOME_BYTES: Final = 2**16


class TooLate(Exception):  # noqa: N818 (named by its meaning)
    """The deadline passed before the response had ended."""


def response_pieces(response: requests.Response, limit: float) -> Iterator[bytes]:
    """Yield a response as it comes; a server may send for ever, with no line's end.

    Args:
        response: A response whose content has not been read.
        limit: The moment at which it must have ended, by `time.monotonic`.

    Raises:
        TooLate: it has lasted too long.
        BrokenStream: it is too large.
    """
    size = 0
    while piece := _next_piece(response, limit):
        size += len(piece)
        if size > _MOST_BYTES:
            raise BrokenStream(f"an answer of over {_MOST_BYTES:,} bytes")
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

    See `response_pieces` for its arguments and exceptions.
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
    """Return the rest of a response that comes in time."""
    start = b""
    limit = time.monotonic() + seconds
    with suppress(TooLate, HTTPError, requests.RequestException):
        while len(start) < _SOME_BYTES and (piece := _next_piece(response, limit)):
            start += piece
    return start[:_SOME_BYTES]
