"""One streamed answer of a server: read to its end, or to where it breaks.

The stream is that of OpenAI's chat completions: server-sent events (HTML standard,
section 9.2), each a line `data: ` with a JSON object, and `data: [DONE]` at the end.
A server that does not stream answers with one JSON object, which is one piece.
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
    #: How a model refuses, where its server has a place of its own for that.
    refusal: str | None = None
    #: What a reasoning model thinks, by either of the names that servers use.
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(msgspec.Struct):
    """One of the answers that are written at the same time; we ask for one."""

    delta: _Delta | None = None
    #: The whole answer of a server that does not stream.
    message: _Delta | None = None
    finish_reason: str | None = None


class _UsageDetails(msgspec.Struct):
    """What the tokens of an answer are made of."""

    reasoning_tokens: float | None = None


class _Usage(msgspec.Struct):
    """The tokens that the server counted."""

    prompt_tokens: float | None = None
    #: Those of the reasoning are among them.
    completion_tokens: float | None = None
    completion_tokens_details: _UsageDetails | None = None


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

    @property
    def begun(self) -> bool:
        """Whether the model has written anything, be it a thought or a refusal."""
        return bool(self.text or self.reasoning or self.refusal)


def read_stream(
    lines: Iterable[bytes], answer: ServerAnswer | None = None
) -> ServerAnswer:
    r"""Return the whole answer of a stream; lines after `[DONE]` are left unread.

    Args:
        lines: The lines of the response as they come, without their ends.
        answer: Is filled as they come, so that what came is there whatever happens.

    Raises:
        BrokenStream: it has no end, or the server reports an error in it.

    Example:
        >>> event = b'data: {"choices": [{"delta": {"content": "{}"}}]}'
        >>> end = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}'
        >>> read_stream([event, b"", end, b"", b"data: [DONE]"]).text
        '{}'
    """
    answer = ServerAnswer() if answer is None else answer
    other: list[bytes] = []
    for line in lines:
        if not line.startswith(_DATA):
            other.append(line)
            continue
        data = line[len(_DATA) :].strip()
        if data == _DONE:
            break
        _add(_read_event(data), answer)
    whole = b"\n".join(other).strip()
    if whole.startswith(b"{") and not answer.begun:
        _add(_read_event(whole), answer)
    if not answer.finish:
        raise BrokenStream("the stream ended before the answer did")
    return answer


def _read_event(data: bytes) -> _Event:
    try:
        event = msgspec.json.decode(data, type=_Event)
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


def _add(event: _Event, answer: ServerAnswer) -> None:
    """Add what an event says to the answer; its pieces get the present moment."""
    now = perf_counter_ns()
    if event.usage is not None and event.usage != _Usage():
        answer.prompt_tokens = _whole(event.usage.prompt_tokens)
        answer.output_tokens = _whole(event.usage.completion_tokens)
        details = event.usage.completion_tokens_details or _UsageDetails()
        answer.reasoning_tokens = _whole(details.reasoning_tokens)
    for choice in (event.choices or [])[:1]:
        delta = choice.delta or choice.message or _Delta()
        # A server that knows both names says the same under both.
        answer.reasoning += delta.reasoning_content or delta.reasoning or ""
        answer.refusal += delta.refusal or ""
        if delta.content:
            answer.text += delta.content
            answer.pieces.append((now, len(delta.content)))
        answer.finish = choice.finish_reason or answer.finish


def _whole(count: float | None) -> int | None:
    return None if count is None else int(count)
