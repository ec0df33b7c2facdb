"""Requests leave at their moments, and what they wait for is counted."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from curation.system.errors import NotPermitted
from evaluation.core.cases import Result
from evaluation.core.records import Message, Record
from evaluation.generation.text_generation import GenerationRequest, TextEnding
from evaluation.load.arrivals import (
    LoadSettings,
    OpenLoopSender,
    SchemaChoice,
    plan_stream,
)
from evaluation.servers.client import RequestLimits, ServerConnection
from evaluation.servers.model_server import server_participants
from evaluation.servers.writer import ServerWriter
from tests.evaluation.servers.loopback import Said, answer, event, loopback, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.load.arrivals import SentRequest

_SCHEMA = '{"type": "object"}'
_SERVICE = 0.01


def _send(
    reply: Callable[[dict[str, Any], int], Said],
    count: int,
    *,
    rate: float = float("inf"),
    concurrency: int = 64,
    seconds: float = 5.0,
) -> list[SentRequest]:
    request = GenerationRequest(
        record=Record(id="ferry", group="made", schema=_SCHEMA, dialect="2020-12"),
        messages=(Message(role="user", content="a ferry"),),
        budget=40,
    )
    settings = LoadSettings(rate=rate, warm_up=0)
    stream = plan_stream([request] * count, SchemaChoice.ONE, settings)
    with loopback(reply) as server:
        limits = RequestLimits(seconds=seconds, patience=0)  # as in `run_load`
        connection = ServerConnection(base=server.base, model="small", limits=limits)
        (one,) = server_participants(connection, ["strict"])
        sender = OpenLoopSender(ServerWriter(one), concurrency)
        try:
            return list(sender.send(stream))
        finally:
            sender.close()


def _departures(sent: list[SentRequest]) -> list[float]:
    """Return when requests should have left a queue with one place (Lindley, 1952)."""
    free, found = 0.0, []
    for arrival in sorted(one.planned.arrival_ns / 1e9 for one in sent):
        free = max(free, arrival) + _SERVICE
        found.append(free)
    return found


@pytest.mark.parametrize("concurrency", [64, 1])
def test_a_queue_counts_wherever_it_stands(concurrency: int) -> None:
    """With one place at the server or one here, no request is over before its turn.

    The arrivals and the time of service are known, so every departure has a lower
    bound. Times from the moment of sending would lie below it where the queue is here.
    """
    turn = threading.Lock()

    def serve(_body: dict[str, Any], _number: int) -> Said:
        with turn:
            time.sleep(_SERVICE)
        return answer("{", "}")

    sent = _send(serve, 20, rate=200.0, concurrency=concurrency)
    assert len(sent) == 20
    left = sorted((one.planned.arrival_ns + one.over_ns) / 1e9 for one in sent)
    for moment, bound in zip(left, _departures(sent), strict=True):
        assert moment >= bound
    assert all(one.generation.text == "{}" for one in sent)
    totals = [one.generation.total_ns or 0 for one in sent]
    assert sum(totals) >= sum(
        (bound - arrival) * 1e9
        for bound, arrival in zip(
            _departures(sent),
            sorted(one.planned.arrival_ns / 1e9 for one in sent),
            strict=True,
        )
    )


def test_arrivals_do_not_wait_for_answers() -> None:
    """All requests of a burst are under way before the first is answered."""
    together = threading.Barrier(6)

    def serve(_body: dict[str, Any], _number: int) -> Said:
        together.wait(timeout=20)
        return answer("{", "}")

    assert len(_send(serve, 6)) == 6


def test_pauses_between_pieces_are_the_inter_token_latencies() -> None:
    """Each gap is at least as long as the server paused there."""

    def serve(_body: dict[str, Any], _number: int) -> Said:
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        return Said(
            pieces=[
                event(content="{"),
                0.3,
                event(content=" "),
                0.1,
                event(content="}"),
                event(finish="stop", usage=usage),
                b"data: [DONE]\n\n",
            ]
        )

    (sent,) = _send(serve, 1)
    assert len(sent.gaps_ns) == 2
    assert sent.gaps_ns[0] >= 200_000_000
    assert sent.gaps_ns[1] >= 20_000_000
    made = sent.generation
    assert made.ttft_ns is not None
    assert made.total_ns is not None
    assert made.total_ns - made.ttft_ns == sum(sent.gaps_ns)
    assert made.tpot_ns == pytest.approx(sum(sent.gaps_ns) / 2)


def test_every_trouble_is_an_outcome_and_nothing_is_asked_twice() -> None:
    """429, 500, refusals, a disconnect and a stall are one request each."""
    cut = Said(pieces=[event(content="{")])
    stalled = Said(pieces=[event(content="{")], ends=False)
    told: list[Said] = [
        refusal(429, {"error": {"message": "later"}}, Retry_After="30"),
        refusal(500, {}),
        refusal(400, {"error": {"message": "bad schema", "param": "response_format"}}),
        cut,
        stalled,
        answer("{}"),
    ]
    asked: list[int] = []

    def serve(_body: dict[str, Any], number: int) -> Said:
        asked.append(number)
        return told[number]

    sent = _send(serve, len(told), seconds=1.0)
    assert len(asked) == len(told)
    found = sorted(
        (one.generation.result.value, one.generation.ending.value) for one in sent
    )
    assert found == sorted(
        [
            (Result.ERROR.value, TextEnding.MODEL.value),
            (Result.ERROR.value, TextEnding.MODEL.value),
            (Result.ERROR.value, TextEnding.MODEL.value),
            (Result.COMPILE_ERROR.value, TextEnding.ENGINE.value),
            (Result.TIMEOUT.value, TextEnding.TIMEOUT.value),
            (Result.OK.value, TextEnding.END.value),
        ]
    )
    late = next(one for one in sent if one.generation.result is Result.TIMEOUT)
    assert late.over_ns >= 1_000_000_000


def test_a_wrong_key_ends_the_stream() -> None:
    """Nobody is asked a thousand times with a key that is refused."""
    with pytest.raises(NotPermitted):
        _send(lambda _body, _number: refusal(401, {}), 4)
