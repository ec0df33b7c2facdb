"""The same happens through any wire format: format x fault x constraint, one runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluation.servers.provider import providers
from evaluation.suites.coverage.scorer import judge
from tests.evaluation.servers.contracts import CONTRACTS, KEYS
from tests.evaluation.servers.loopback import SCHEMA, Said, refusal, write_through
from tests.evaluation.suites.coverage.written_texts import written

if TYPE_CHECKING:
    from tests.evaluation.servers.contracts import Contract

#: A provider of each format.
_FORMATS = ("openai", "responses", "anthropic", "gemini", "ollama")
_WAYS = ("none", "json", "tool", "strict")
_RIGHT, _WRONG = '{"deck": 2}', '{"a": 2}'
_FILTERED = {"error": {"message": "x", "code": "content_filter"}}
#: Replies that are no text.
_ERRORS = {
    "html": Said(pieces=[b"<html>Sign in</html>"]),
    "429": refusal(429, {"error": "later"}),
    "500": refusal(500, {"error": "oh no"}),
    "schema": refusal(400, {"error": {"message": "Invalid schema: no"}}),
    "context": refusal(400, {"error": {"message": "prompt is too long"}}),
    "filter": refusal(400, _FILTERED),
    "filter in a success": refusal(200, _FILTERED),
    "unclear": refusal(400, {"error": {"message": "bad request"}}),
}
#: What the server replies in turn, the last for ever; and what comes of the text with a
#: constraint and without.
_FAULTS: list[tuple[tuple[str, ...], str, str]] = [
    ((_RIGHT,), "compliant", "compliant"),
    ((_WRONG,), "violates", "violates"),
    (("429", _RIGHT), "compliant", "compliant"),
    (("500", _RIGHT), "compliant", "compliant"),
    (("cut", _RIGHT), "compliant", "compliant"),
    (("html",), "model_error", "model_error"),
    (("500",), "model_error", "model_error"),
    (("schema",), "compile_error", "request_refused"),
    (("context",), "prompt_too_long", "prompt_too_long"),
    (("filter",), "content_filter", "content_filter"),
    (("filter in a success",), "content_filter", "content_filter"),
    (("unclear",), "request_refused", "request_refused"),
]


def _reply(name: str, contract: Contract, *, is_tool: bool) -> Said:
    if name in _ERRORS:
        return _ERRORS[name]
    text = _RIGHT if name == "cut" else name
    pieces = contract.stream([text[:3], text[3:]], is_tool)
    whole = b"".join(pieces)
    return Said(pieces=[whole[: len(whole) // 2]] if name == "cut" else pieces)


def _outcome(provider: str, way: str, replies: list[Said]) -> str:
    """Return the class of a text that is asked for in one way."""
    (made,), _ = write_through(replies, way, provider=provider, tries=2)
    judgement = judge(made.text, SCHEMA, "2020-12") if made.generated else None
    return str(written(made, judgement, engine="strict small").outcome)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, "a-key")


@pytest.mark.parametrize(("replies", "constrained", "free"), _FAULTS)
@pytest.mark.parametrize("way", _WAYS)
def test_a_fault_has_one_outcome_through_any_format(
    replies: tuple[str, ...], constrained: str, free: str, way: str
) -> None:
    """Where a format has no such way, it is left out."""
    expected = free if way == "none" else constrained
    outcomes = {}
    for provider in _FORMATS:
        if way in {"none", *providers()[provider].ways}:
            contract, is_tool = CONTRACTS[provider], way == "tool"
            said = [_reply(name, contract, is_tool=is_tool) for name in replies]
            outcomes[provider] = _outcome(provider, way, said)
    assert outcomes == dict.fromkeys(outcomes, expected)
    assert len(outcomes) >= len(_FORMATS) - 1
