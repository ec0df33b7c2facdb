"""Read a server's response: its lines, and the streamed answer.

A stream has server-sent events (HTML standard, section 9.2), each a line `data: ` with
a JSON object, of OpenAI's chat completions `data: [DONE]` at the end. A server that
does not stream answers with one JSON object, which is one piece.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any, Final

import msgspec
import requests
from urllib3.exceptions import HTTPError

from curation.core.json_types import Json
from curation.system.words import shortened

_DATA: Final = b"data:"
_DONE: Final = b"[DONE]"
#: No answer has as many tokens.
_MAX_TOKENS: Final = 1e12


class BrokenStream(Exception):  # noqa: N818 (named by its meaning)
    """The stream ended before the answer did, or holds an invalid event."""


class ErrorEvent(Exception):  # noqa: N818 (named by its meaning)
    """The server reports an error inside a response that began well."""

    def __init__(self, body: str) -> None:
        """Take the event, as JSON."""
        super().__init__(body)
        self.body = body


@dataclass(slots=True)
class ServerAnswer:
    """What has come of an answer so far."""

    #: The moment at which it was asked for (`perf_counter_ns`).
    asked_ns: int = 0
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
        """Take the tokens that the server counted, where this event tells them.

        A figure that no server can mean is none.

        Args:
            prompt: Those of the prompt.
            output: All of the answer, the reasoning included.
            reasoning: Those of the reasoning.
        """
        told = {
            "prompt_tokens": prompt,
            "output_tokens": output,
            "reasoning_tokens": reasoning,
        }
        for name, number in told.items():
            if number is not None:
                is_count = 0 <= number < _MAX_TOKENS
                setattr(self, name, int(number) if is_count else None)

    @property
    def begun(self) -> bool:
        """Whether the model has written anything, be it a thought or a refusal."""
        return bool(self.text or self.arguments or self.reasoning or self.refusal)


def read_stream(
    lines: Iterable[bytes],
    answer: ServerAnswer,
    paths: AnswerPaths,
    prefix: bytes = _DATA,
) -> None:
    """Read the whole answer of a stream; lines after `[DONE]` are left unread.

    Args:
        lines: The lines of the response as they come, without their ends.
        answer: Is filled as they come, so that what came is there whatever happens.
        paths: Where the events have what is read of them.
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
        read_event(data, paths, answer)
    whole = b"\n".join(other).strip()
    if whole.startswith(b"{") and not answer.begun:
        read_event(whole, paths, answer)
    if not answer.finish:
        page = shortened(whole.decode("utf-8", "replace"), 40)
        seen = f": {page!r}" if page.startswith("<") else ""
        raise BrokenStream(f"the stream ended before the answer did{seen}")


class AnswerPaths(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the events of a stream, and whole answers, have what is read of them.

    Of the paths of a member the first one with a value counts. The steps of a path,
    each after a `/`, are a member's name, an index, `*` for all elements, or
    `NAME=VALUE` (`NAME!=VALUE`), which only an object with that value (with another
    one, or none) passes. What is before the first `/` is put before the value.
    """

    #: Texts.
    text: tuple[str, ...]
    finish: tuple[str, ...]
    reasoning: tuple[str, ...] = ()
    refusal: tuple[str, ...] = ()
    #: Arguments with which a tool is called: texts, or objects whose JSON they are.
    arguments: tuple[str, ...] = ()
    #: What is there where a tool is called, be it without arguments.
    call: tuple[str, ...] = ()
    #: Numbers; paths with a `+` between them are added.
    prompt_tokens: tuple[str, ...] = ()
    output_tokens: tuple[str, ...] = ()
    reasoning_tokens: tuple[str, ...] = ()
    #: Whether a count of 0 is left out where the prompt is counted.
    omits_zeros: bool = False
    error: tuple[str, ...] = ("/error",)


def read_event(data: bytes, paths: AnswerPaths, answer: ServerAnswer) -> None:
    """Add an event of a stream, or a whole answer.

    Raises:
        BrokenStream: it has another form.
        ErrorEvent: it reports an error.
    """
    try:
        event = msgspec.json.decode(data)
        for error in _values(event, paths.error):
            if error:
                raise ErrorEvent(json.dumps({"error": error}))
        _read_parts(event, paths, answer)
        calls = _values(event, paths.arguments)
        if any(isinstance(call, dict) for call in calls):
            # As they are spelled.
            objects = _values(msgspec.Raw(data), paths.arguments)
            calls = [bytes(it).decode() for it in objects]
        answer.call("".join(calls))
    except (msgspec.ValidationError, TypeError):
        raise BrokenStream("an event of another form") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BrokenStream("an event that is not JSON") from None
    except RecursionError:
        raise BrokenStream("an event that nests too deeply") from None
    if not answer.arguments and _values(event, paths.call):
        answer.call("{}")


def _read_parts(event: Json, paths: AnswerPaths, answer: ServerAnswer) -> None:
    answer.reasoning += _text(event, paths.reasoning)
    answer.refusal += _text(event, paths.refusal)
    answer.write(_text(event, paths.text))
    prompt = _count(event, paths.prompt_tokens)
    absent = 0.0 if paths.omits_zeros and prompt is not None else None
    answer.count(
        prompt,
        _count(event, paths.output_tokens, absent),
        _count(event, paths.reasoning_tokens, absent),
    )
    answer.finish = _text(event, paths.finish) or answer.finish


def _text(event: Json, paths: Sequence[str]) -> str:
    """Return the texts at the first path that has any, put together."""
    for path in paths:
        prefix = path.partition("/")[0]
        matches = "".join(_values(event, [path]))
        if matches:
            return prefix + matches
    return ""


def _count(
    event: Json, paths: Sequence[str], absent: float | None = None
) -> float | None:
    """Return the number at the first path that has one."""
    for path in paths:
        parts = [it for term in path.split("+") for it in _values(event, [term])]
        if parts:
            return sum(msgspec.convert(part, float) for part in parts)
    return absent


#: An object or array whose members are the JSON that they are.
_SHALLOW: Final = msgspec.json.Decoder(
    dict[str, msgspec.Raw] | list[msgspec.Raw] | None
)


def _values(event: Json | msgspec.Raw, paths: Sequence[str]) -> list[Any]:
    """Return the values at the first path that has any; null is none.

    Raises:
        TypeError: a path leads through a value of another kind.
    """
    for path in paths:
        matches: list[Any] = [event]
        for step in path.split("/")[1:]:
            if isinstance(event, msgspec.Raw):
                matches = [*filter(None, map(_SHALLOW.decode, matches))]
            matches = [
                it for node in matches for it in _step(node, step) if it is not None
            ]
            if not matches:
                break
        if matches:
            return matches
    return []


def _step(node: Any, step: str) -> Sequence[Any]:  # noqa: ANN401 (JSON)
    name, condition, expected = step.partition("=")
    if condition:
        member = dict.get(node, name.removesuffix("!"))
        actual = json.dumps(member).strip('"')
        return [node] if (actual == expected) is not name.endswith("!") else ()
    if step == "*":
        return list.copy(node)
    if step.isdecimal():
        return list.copy(node)[int(step) : int(step) + 1]
    return [dict.get(node, step)]


#: Most bytes of one answer; the longest text that a model here may write has less.
_MAX_BYTES: Final = 32 * 2**20
#: Bytes read of an error's text, or after the end of an answer.
_SOME_BYTES: Final = 2**16


class TooLate(requests.Timeout):
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
        if size > _MAX_BYTES:
            raise BrokenStream(f"an answer of over {_MAX_BYTES:,} bytes")
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
    with suppress(HTTPError, requests.RequestException):
        while len(start) < _SOME_BYTES and (piece := _next_piece(response, limit)):
            start += piece
    return start[:_SOME_BYTES]
