"""One streamed answer: server-sent events, read to their end or to where they break."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_DATA: Final = b"data:"
_DONE: Final = b"[DONE]"
#: Where servers put what a reasoning model thinks.
_REASONING: Final = ("reasoning_content", "reasoning")


class BrokenStream(Exception):  # noqa: N818 (it says what it is)
    """The stream ended before the answer did, or holds what is no event."""


@dataclass(slots=True)
class ServerAnswer:
    """What has come so far."""

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
    pieces: list[int] = field(default_factory=list)


def read_stream(lines: Iterable[bytes]) -> ServerAnswer:
    """Return the whole answer of a stream of lines.

    Raises:
        BrokenStream: it has no end, or the server tells of an error in it.
    """
    answer = ServerAnswer()
    for line in lines:
        if not line.startswith(_DATA):
            continue
        data = line[len(_DATA) :].strip()
        if data == _DONE:
            break
        _take(_event(data), answer)
    if not answer.finish:
        raise BrokenStream("the stream ended before the answer did")
    return answer


def _event(data: bytes) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except ValueError:
        raise BrokenStream("an event that is not JSON") from None
    if not isinstance(event, dict):
        raise BrokenStream("an event that is no object")
    if event.get("error"):
        raise BrokenStream(f"the server says: {str(event['error'])[:200]}")
    return event


def _take(event: dict[str, Any], answer: ServerAnswer) -> None:
    now = perf_counter_ns()
    usage = event.get("usage") or {}
    if usage:
        answer.prompt_tokens = usage.get("prompt_tokens")
        answer.output_tokens = usage.get("completion_tokens")
    for choice in (event.get("choices") or [])[:1]:
        delta = choice.get("delta") or {}
        for name in _REASONING:
            answer.reasoning += delta.get(name) or ""
        piece = delta.get("content") or ""
        if piece:
            answer.text += piece
            answer.first_ns = answer.first_ns or now
            answer.last_ns = now
            answer.pieces.append(now)
        answer.finish = choice.get("finish_reason") or answer.finish
