"""One streamed answer of a server: read to its end, or to where it breaks.

The stream is that of OpenAI's chat completions: server-sent events (HTML standard,
section 9.2), each a line `data: ` with a JSON object, and `data: [DONE]` at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

_DATA: Final = b"data:"
_DONE: Final = b"[DONE]"
#: Characters of a server's own error that are repeated.
_LONGEST_ERROR: Final = 200


class BrokenStream(Exception):  # noqa: N818 (it says what it is)
    """The stream ended before the answer did, or holds what is no event."""


class _Delta(msgspec.Struct):
    """What one event adds to the answer."""

    content: str | None = None
    #: What a reasoning model thinks, by either of the names that servers use.
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(msgspec.Struct):
    """One of the answers that are written at the same time; we ask for one."""

    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    """The tokens that the server counted."""

    prompt_tokens: float | None = None
    completion_tokens: float | None = None


class _Event(msgspec.Struct):
    """One event of the stream; what else is in it is not read."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    #: Undecoded: servers differ in what they put here.
    error: msgspec.Raw = msgspec.Raw()


@dataclass(slots=True)
class ServerAnswer:
    """What has come of an answer so far."""

    text: str = ""
    reasoning: str = ""
    #: `stop`, `length`, `content_filter`, ...; empty before the end.
    finish: str = ""
    #: As the server counted them; None where it did not say.
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    #: Moments of the first and the last piece of text, by `perf_counter_ns`.
    first_ns: int | None = None
    last_ns: int | None = None
    #: The moment of every piece of text.
    pieces: list[int] = field(default_factory=list)


def read_stream(lines: Iterable[bytes]) -> ServerAnswer:
    r"""Return the whole answer of a stream.

    Args:
        lines: The lines of the response as they come, without their ends.

    Raises:
        BrokenStream: it has no end, or the server reports an error in it.

    Example:
        >>> event = b'data: {"choices": [{"delta": {"content": "{}"}}]}'
        >>> end = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}'
        >>> read_stream([event, b"", end, b"", b"data: [DONE]"]).text
        '{}'
    """
    answer = ServerAnswer()
    for line in lines:
        if not line.startswith(_DATA):
            continue
        data = line[len(_DATA) :].strip()
        if data == _DONE:
            break
        _add(_read_event(data), answer)
    if not answer.finish:
        raise BrokenStream("the stream ended before the answer did")
    return answer


def _read_event(data: bytes) -> _Event:
    try:
        event = msgspec.json.decode(data, type=_Event)
    except msgspec.ValidationError:
        raise BrokenStream("an event of another form") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BrokenStream("an event that is not JSON") from None
    error = msgspec.json.decode(event.error) if event.error else None
    if error:
        raise BrokenStream(f"the server says: {str(error)[:_LONGEST_ERROR]}")
    return event


def _add(event: _Event, answer: ServerAnswer) -> None:
    """Add what an event says to the answer; its pieces get the present moment."""
    now = perf_counter_ns()
    if event.usage is not None and event.usage != _Usage():
        answer.prompt_tokens = _whole(event.usage.prompt_tokens)
        answer.output_tokens = _whole(event.usage.completion_tokens)
    for choice in (event.choices or [])[:1]:
        delta = choice.delta or _Delta()
        answer.reasoning += (delta.reasoning_content or "") + (delta.reasoning or "")
        if delta.content:
            answer.text += delta.content
            answer.first_ns = answer.first_ns or now
            answer.last_ns = now
            answer.pieces.append(now)
        answer.finish = choice.finish_reason or answer.finish


def _whole(count: float | None) -> int | None:
    return None if count is None else int(count)
