"""The same happens through any wire format: format x fault x constraint, one runner."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from evaluation.core.records import Message, Record
from evaluation.generation.text_generation import Adapt, GenerationRequest
from evaluation.servers.client import RequestLimits, ServerClient, ServerConnection
from evaluation.servers.model_server import server_participants
from evaluation.servers.pacing import SharedBackoff
from evaluation.servers.provider import providers
from evaluation.servers.writer import ServerWriter
from evaluation.suites.coverage.scorer import judge
from tests.evaluation.servers.contracts import CONTRACTS, KEYS, ended
from tests.evaluation.servers.loopback import Said, loopback, refusal
from tests.evaluation.suites.coverage.written_texts import written

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.evaluation.servers.contracts import Contract

#: A provider of each format.
_FORMATS = ("openai", "responses", "anthropic", "gemini", "ollama")
_WAYS = ("none", "tool", "strict")
_SCHEMA = '{"type": "object", "required": ["deck"]}'
#: By format: the names of three endings.
_REASONS = {
    "truncated": ("length", "max_output_tokens", "max_tokens", "MAX_TOKENS", "length"),
    "filtered": ("content_filter", "content_filter", "", "SAFETY", ""),
}


def _stream(contract: Contract, text: str, *, is_tool: bool) -> Said:
    return Said(pieces=contract.stream([text[:3], text[3:]], is_tool))


def _cut(contract: Contract, *, is_tool: bool) -> Said:
    whole = b"".join(contract.stream(['{"a', '": 1}'], is_tool))
    return Said(pieces=[whole[: len(whole) // 2]])


#: By fault: what each reply in turn is, and what comes of the text with a constraint
#: and without; the last reply is given for ever.
_FAULTS: dict[str, tuple[Callable[[Contract, bool], list[Said]], str, str]] = {
    "valid": (
        lambda it, tool: [_stream(it, '{"deck": 2}', is_tool=tool)],
        *["compliant"] * 2,
    ),
    "violates": (
        lambda it, tool: [_stream(it, '{"a": 2}', is_tool=tool)],
        *["violates"] * 2,
    ),
    "429 first": (
        lambda it, tool: [
            refusal(429, {"error": "later"}),
            _stream(it, '{"deck": 2}', is_tool=tool),
        ],
        *["compliant"] * 2,
    ),
    "500 first": (
        lambda it, tool: [
            refusal(500, {"error": "oh no"}),
            _stream(it, '{"deck": 2}', is_tool=tool),
        ],
        *["compliant"] * 2,
    ),
    "cut first": (
        lambda it, tool: [
            _cut(it, is_tool=tool),
            _stream(it, '{"deck": 2}', is_tool=tool),
        ],
        *["compliant"] * 2,
    ),
    "HTML": (
        lambda _, __: [Said(pieces=[b"<html>Sign in</html>"])],
        *["model_error"] * 2,
    ),
    "always 500": (lambda _, __: [refusal(500, {"error": "no"})], *["model_error"] * 2),
    "schema": (
        lambda _, __: [refusal(400, {"error": {"message": "Invalid schema: no"}})],
        "compile_error",
        "request_refused",
    ),
    "context": (
        lambda _, __: [refusal(400, {"error": {"message": "prompt is too long"}})],
        *["prompt_too_long"] * 2,
    ),
    "filter": (
        lambda _, __: [
            refusal(400, {"error": {"message": "x", "code": "content_filter"}})
        ],
        *["content_filter"] * 2,
    ),
    "filter in a success": (
        lambda _, __: [
            refusal(200, {"error": {"message": "x", "code": "content_filter"}})
        ],
        *["content_filter"] * 2,
    ),
    "unclear": (
        lambda _, __: [refusal(400, {"error": {"message": "bad request"}})],
        *["request_refused"] * 2,
    ),
}


def _outcome(provider: str, way: str, replies: list[Said]) -> str:
    """Return the class of a text that is asked for in one way."""

    def reply(_body: dict[str, Any], number: int) -> Said:
        return replies[min(number, len(replies) - 1)]

    with loopback(reply) as server:
        connection = ServerConnection(
            base=server.base,
            model="small",
            provider=providers()[provider],
            limits=RequestLimits(seconds=5.0, patience=1.0, tries=2),
        )
        (one,) = server_participants(connection, [way])
        one = replace(one, adapt=Adapt.NONE)
        slept = [0.0]
        backoff = SharedBackoff(1.0, clock=lambda: sum(slept), sleep=slept.append)
        writer = ServerWriter(one, client=ServerClient(connection, backoff))
        record = Record(id="ferry", group="made", schema=_SCHEMA, dialect="2020-12")
        turn = Message(role="user", content="a ferry")
        request = GenerationRequest(record=record, messages=(turn,), budget=40)
        (made,) = writer.write([request])
        writer.close()
    judgement = judge(made.text, _SCHEMA, "2020-12") if made.generated else None
    return str(written(made, judgement, engine="strict small").outcome)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, "a-key")


@pytest.mark.parametrize("fault", _FAULTS)
@pytest.mark.parametrize("way", _WAYS)
def test_a_fault_has_one_outcome_through_any_format(fault: str, way: str) -> None:
    """Where a format has no such way, it is left out."""
    replies, constrained, free = _FAULTS[fault]
    expected = free if way == "none" else constrained
    outcomes = {
        provider: _outcome(provider, way, replies(CONTRACTS[provider], way == "tool"))
        for provider in _FORMATS
        if way in {"none", *providers()[provider].ways}
    }
    assert outcomes == dict.fromkeys(outcomes, expected)
    assert len(outcomes) >= len(_FORMATS) - 1


@pytest.mark.parametrize("ending", _REASONS)
def test_an_ending_is_the_same_under_any_name(ending: str) -> None:
    """Each format has its own."""
    expected = {"truncated": "truncated", "filtered": "content_filter"}[ending]
    for provider, way in itertools.product(_FORMATS, ("none", "strict")):
        reason = _REASONS[ending][_FORMATS.index(provider)]
        if reason:
            said = ended(provider, '{"de', reason)
            assert _outcome(provider, way, [said]) == expected
