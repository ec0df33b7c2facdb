"""The lines between a parent and its workers."""

from __future__ import annotations

import msgspec
import pytest

from curation.workers import limits, protocol
from curation.workers.limits import (
    Greeting,
    Limits,
    RequestBatch,
    WorkerLine,
    decode_line,
    encode_message,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"ready":true}', WorkerLine(ready=True)),
        (b'{"failed":"no"}', WorkerLine(failed="no")),
        (b'{"request":0,"answer":null}', WorkerLine(request=0, answer=None)),
        (b'{"request":1,"error":"E"}', WorkerLine(request=1, error="E")),
        (b'{"request":2,"memory":"M"}', WorkerLine(request=2, memory="M")),
    ],
)
def test_every_line_of_the_protocol_is_read(line: bytes, expected: WorkerLine) -> None:
    """An answer of null is an answer."""
    assert decode_line(line) == expected


@pytest.mark.parametrize(
    "line",
    [b"", b"[1, 2]", b'{"request":"1"}', b'"\xff"', b'{"answer":NaN}', b"[" * 9_999],
)
def test_what_is_no_message_says_nothing(line: bytes) -> None:
    """It is an empty message, which no worker may send."""
    assert decode_line(line) == WorkerLine()


def test_both_ends_name_the_same_fields() -> None:
    """The worker's side is written without msgspec, for Pythons that lack it."""
    ours = {field.name for field in msgspec.structs.fields(limits.WorkerLimits)}
    assert ours == protocol.ReceivedLimits.__annotations__.keys()
    greeting = Greeting(setup={"a": 1}, limits=Limits().for_worker(), parent=7)
    assert msgspec.json.decode(encode_message(greeting)).keys() == {
        "setup",
        "limits",
        "parent",
    }
    assert encode_message(RequestBatch(requests=["a", 1])) == b'{"requests":["a",1]}'


def test_an_answer_may_be_left_as_its_text() -> None:
    """Whoever asks for it reads it later, as what it is; nothing else is left."""
    line = decode_line(b'{"request":0,"answer":{"a": [1, 2]}}', unread=True)
    assert (line.request, bytes(line.answer)) == (0, b'{"a": [1, 2]}')
    assert (
        decode_line(b'{"request":1,"error":"E"}', unread=True).answer is msgspec.UNSET
    )
    assert decode_line(b'{"answer":[1,}', unread=True) == WorkerLine()
