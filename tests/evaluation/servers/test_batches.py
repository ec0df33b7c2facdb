"""Requests sent as batches: nothing is sent twice, whatever ends the command."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import csbdata
from curation.system.errors import BadUsage, Unavailable
from evaluation.asking.request import ModelOptions, choose_suite
from evaluation.core.records import Record, encode_records
from evaluation.generation.text_generation import TokenPrices
from evaluation.servers.pacing import Spending
from evaluation.servers.parameters import Parameters
from tests.evaluation.servers.batch_fakes import Batches, BatchHandler
from tests.evaluation.servers.contracts import CONTRACTS, OUTPUT, PROMPT
from tests.evaluation.servers.loopback import loopback

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.asking.request import RunRequest

#: Each runs a suite several times.
pytestmark = pytest.mark.slow
_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
)
_RECORDS = [Record(id=f"r{n}", group="g", schema=_SCHEMA) for n in range(6)]
_PRICES = TokenPrices(prompt=1e6, output=1e6, batch=0.5)


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a provider that has batches."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    return str(request.param)


@pytest.fixture
def batches() -> Batches:
    """Return what a server has of batches."""
    return Batches(lambda _body: '{"n": 1}')


@pytest.fixture
def served(
    tmp_path: Path, provider: str, batches: Batches
) -> Iterator[tuple[RunRequest, Any]]:
    """Return a run of six records in two ways, and the server that it asks."""
    data = tmp_path / "made.jsonl"
    data.write_bytes(encode_records(_RECORDS))

    def reply(body: dict[str, Any], _number: int) -> Any:  # noqa: ANN401 (as the fake's)
        return CONTRACTS[provider].reply(body, '{"n": 1}')

    with loopback(reply, base=BatchHandler, batches=batches) as server:
        model = ModelOptions(
            model=f"{provider}:{server.base}#small", prices=_PRICES, patience=0.0
        )
        yield (
            csbdata.RunRequest(
                suite=choose_suite("passrate"),
                data=data,
                engines=("none", "strict"),
                models=(model,),
                jobs=1,
                run_dir=tmp_path / "run",
                batches="submit",
            ),
            server,
        )


def _responses(request: RunRequest) -> list[dict[str, Any]]:
    assert request.run_dir is not None
    lines = (request.run_dir / "responses.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_what_is_submitted_is_collected(
    served: tuple[RunRequest, Any], batches: Batches
) -> None:
    """One text a way is asked live, the others in batches as it was taken."""
    request, server = served
    batches.through = False
    assert csbdata.run(request).totals.waiting == 10
    asked = len(server.asked)
    assert len(batches.names) == len(set(batches.names)) == 10
    again = csbdata.run(request)
    waiting = csbdata.run(replace(request, batches="collect"))
    assert (again.totals.waiting, waiting.totals.waiting) == (10, 10)
    assert len(batches.names) == 10
    batches.through = True
    result = csbdata.run(replace(request, batches="collect"))
    assert (result.totals.waiting, result.totals.ran) == (0, 10)
    assert len(server.asked) == asked
    assert result.open().raw_header["finished"]
    responses = _responses(request)
    assert Counter(it["condition"] for it in responses) == {"free": 6, "strict": 6}
    assert Counter(it["cost"] for it in responses) == {
        PROMPT + OUTPUT: 2,
        (PROMPT + OUTPUT) / 2: 10,
    }
    assert {it["text"] for it in responses} == {'{"n": 1}'}
    assert {it.get("seconds") for it in responses if it["cost"] < 10} == {None}
    assert _are_taken(request, batches)
    assert not any("stream" in body for body in _bodies(batches))


def _name(request: RunRequest) -> str:
    return request.models[0].model.partition(":")[0]


def _bodies(batches: Batches) -> list[dict[str, Any]]:
    lines = [line for part in batches.requests.values() for line in part]
    return [line.get("body") or line["params"] for line in lines]


def _are_taken(request: RunRequest, batches: Batches) -> bool:
    """Return whether the provider takes every request that any batch has."""
    contract = CONTRACTS[_name(request)]
    return {contract.reply(it, "{}").status for it in _bodies(batches)} == {200}


class _Killed(BaseException):
    """What no handler of ours catches."""


@pytest.mark.parametrize("moment", range(8))
def test_a_command_that_is_killed_goes_on(
    served: tuple[RunRequest, Any],
    batches: Batches,
    monkeypatch: pytest.MonkeyPatch,
    moment: int,
) -> None:
    """Before or after any exchange with the server: no request is in two batches."""
    request, _ = served
    from evaluation.servers.client import ServerClient  # noqa: PLC0415 (patched here)

    call = ServerClient.call
    calls = 0

    def killed(self: Any, method: str, path: str, **more: Any) -> bytes:  # noqa: ANN401 (as the method)
        nonlocal calls
        calls += 1
        if calls == 1 + moment // 2 and moment % 2 == 0:
            raise _Killed
        answer = call(self, method, path, **more)
        if calls == 1 + moment // 2 and moment % 2 == 1:
            raise _Killed
        return answer

    monkeypatch.setattr(ServerClient, "call", killed)
    for verb in ("submit", "submit", "collect", "submit", "collect"):
        try:
            result = csbdata.run(replace(request, batches=verb))
        except _Killed:
            continue
    assert result.totals.waiting == 0
    assert len(batches.names) == len(set(batches.names)) == 10
    responses = _responses(request)
    assert len({it["fingerprint"] for it in responses}) == len(responses) == 12


def test_what_is_refused_in_a_batch_is_told(
    served: tuple[RunRequest, Any], batches: Batches
) -> None:
    """A line that is refused has the server's words, and is asked again later."""
    request, _ = served
    batches.text_of = lambda _body: None
    csbdata.run(request)
    refused = csbdata.run(replace(request, batches="collect"))
    assert refused.totals.waiting == 0
    errors = {it["error"] for it in _responses(request) if it["error"]}
    assert len(errors) == 1
    assert "no such thing" in errors.pop()
    batches.text_of = lambda _body: '{"n": 1}'
    csbdata.run(request)
    result = csbdata.run(replace(request, batches="collect"))
    assert len(batches.names) == 20
    assert result.totals.waiting == 0
    # What the first request of all was refused for is not sent later either.
    assert _are_taken(request, batches)


def test_limits_hold_for_batches(
    served: tuple[RunRequest, Any], batches: Batches
) -> None:
    """`--max-requests` counts requests of batches; those under way count as paid."""
    request, _ = served
    csbdata.run(replace(request, max_requests=8))
    sent = len(batches.names)
    assert 0 < sent < 8
    batches.through = False
    for _ in range(2):
        # More than the answers that are there have cost.
        csbdata.run(replace(request, max_cost=100.0))
        assert len(batches.names) == sent


def test_what_is_under_way_counts_at_the_price_of_batches(
    served: tuple[RunRequest, Any], batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a limit of cost would stop a run at half of what it may spend."""
    request, _ = served
    batches.through = False
    most = _most_paid(monkeypatch)
    for _ in range(2):
        most.clear()
        csbdata.run(request)
        full = _full_price(batches)
        assert 0.5 * full <= sum(most) < 0.6 * full


def _most_paid(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return what answers of untold cost can have cost, as a run counts it."""
    most: list[float] = []

    def pay(_self: Spending, cost: float | None, at_most: float = 0.0) -> None:
        most.append(at_most if cost is None else 0.0)

    monkeypatch.setattr(Spending, "pay", pay)
    return most


def _full_price(batches: Batches) -> int:
    """Return the most that every request of any batch can cost when asked live."""
    return sum(
        len(json.dumps(body))
        + next(value for name, value in body.items() if name.startswith("max_"))
        for body in _bodies(batches)
    )


def test_an_answer_without_its_tokens_costs_the_most_that_it_can(
    served: tuple[RunRequest, Any], batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a limit of cost would let a run spend without end."""
    request, _ = served
    csbdata.run(request)
    text = '{"n": 1}'
    content = [{"type": "text", "text": text}]
    bodies: dict[str, dict[str, Any]] = {
        "openai": {
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}]
        },
        "anthropic": {"content": content, "stop_reason": "end_turn"},
    }
    body = bodies[_name(request)]
    line = {"response": {"status_code": 200, "body": body}}
    if _name(request) == "anthropic":
        line = {"result": {"type": "succeeded", "message": body}}
    batches.odd = [line] * 10
    most = _most_paid(monkeypatch)
    result = csbdata.run(replace(request, batches="collect"))
    assert result.totals.waiting == 0
    assert {it["text"] for it in _responses(request)} == {text}
    full = _full_price(batches)
    assert 0.5 * full <= sum(most) < 0.6 * full


#: What stands where an answer about batches should: of no form, or of another.
_NO_ANSWERS = (b"<html>Sign in</html>", b"[1]", b'{"id": null}', b"[" * 50_000)


def test_what_is_no_answer_about_batches_is_one_line(
    served: tuple[RunRequest, Any], batches: Batches
) -> None:
    """Whatever is asked, exit 69; nothing is lost, and nothing is sent twice."""
    request, _ = served
    for place, body in enumerate(_NO_ANSWERS):
        batches.instead, batches.exchanges = {place % 2: body}, 0
        with pytest.raises(Unavailable, match="no answer of such a server"):
            csbdata.run(request)
    batches.instead = {}
    for verb in ("submit", "collect"):
        result = csbdata.run(replace(request, batches=verb))
    assert result.totals.waiting == 0
    assert len(batches.names) == len(set(batches.names)) == 10


_ODD: tuple[dict[str, Any], ...] = (
    {"response": 5},
    {"response": {"body": []}},
    {"response": {"status_code": "x"}},
    {"response": {}},
    {"result": 5},
    {"result": {"type": "succeeded"}},
    {"result": {"type": "errored"}},
    {"error": 7},
    {},
    {"result": {"type": "succeeded", "message": {"content": "\ud800"}}},
)


def test_an_odd_line_of_a_batch_costs_its_own_answer_alone(
    served: tuple[RunRequest, Any], batches: Batches
) -> None:
    """It is no answer, and is asked for again; the others are read."""
    request, _ = served
    batches.odd = [*_ODD]
    csbdata.run(request)
    csbdata.run(replace(request, batches="collect"))
    texts = [it["text"] for it in _responses(request)]
    assert (len(texts), texts.count(None)) == (12, len(_ODD))
    csbdata.run(request)
    result = csbdata.run(replace(request, batches="collect"))
    assert result.totals.waiting == 0
    assert len(batches.names) == 10 + len(_ODD)


def test_results_that_name_no_request_are_not_taken_for_its_end(
    served: tuple[RunRequest, Any], batches: Batches
) -> None:
    """A page in place of the file is one line; a line among others is left out."""
    request, _ = served
    csbdata.run(request)
    results = Batches.results
    odd = b"<html>Sign in</html>\n"
    batches.results = lambda name: odd  # type: ignore[method-assign]  # noqa: ARG005 (the fake's)
    with pytest.raises(Unavailable, match="no answer of such a server: '<html>Sign"):
        csbdata.run(replace(request, batches="collect"))
    batches.results = lambda name: odd + results(batches, name)  # type: ignore[method-assign]  # the fake's
    result = csbdata.run(replace(request, batches="collect"))
    assert result.totals.waiting == 0
    assert len(batches.names) == 10


def test_what_expired_has_no_status(
    served: tuple[RunRequest, Any], batches: Batches
) -> None:
    """The provider's words alone: no request was answered."""
    request, _ = served
    words = "the completion window expired"
    batches.odd = [
        {"error": {"code": "batch_expired", "message": words}},
        {"response": None, "error": {"message": words}},
        {"result": {"type": "expired", "error": {"error": {"message": words}}}},
    ] * 5
    csbdata.run(request)
    csbdata.run(replace(request, batches="collect"))
    errors = {it["error"] for it in _responses(request) if it["error"]}
    assert {error.partition(": ")[2] for error in errors} == {words}


def test_a_parameter_that_batches_alone_refuse_is_learnt(
    served: tuple[RunRequest, Any], batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the first request told nothing, the refused ones of a batch do."""
    request, _ = served
    error = {"type": "invalid_request_error", "message": "no `temperature`, please"}
    batches.odd = [
        {
            "response": {"status_code": 400, "body": {"error": error}},
            "result": {"type": "errored", "error": {"error": error}},
        }
        if _name(request) == "anthropic"
        else {"response": {"status_code": 400, "body": {"error": error}}}
    ] * 10
    with monkeypatch.context() as patched:
        patched.setattr(Parameters, "learn", lambda *_: None)
        with pytest.raises(Unavailable, match="no request was answered"):
            csbdata.run(request)
    assert not _are_taken(request, batches)
    with pytest.raises(Unavailable, match="`temperature`, please"):
        csbdata.run(replace(request, batches="collect"))
    batches.requests.clear()
    csbdata.run(request)
    assert batches.requests
    assert _are_taken(request, batches)


def test_a_schema_that_is_not_sent_tells_nothing_of_parameters(
    served: tuple[RunRequest, Any], batches: Batches
) -> None:
    """The first request that is sent is the one that is asked by itself."""
    request, _ = served
    lost = json.dumps({"type": "array", "contains": {"not": {"type": "string"}}})
    assert isinstance(request.data, Path)
    request.data.write_bytes(
        encode_records([Record(id="lost", group="g", schema=lost), *_RECORDS])
    )
    csbdata.run(replace(request, engines=("strict",)))
    assert len(batches.names) == 5
    assert _are_taken(request, batches)


def test_a_server_without_batches_says_so(tmp_path: Path) -> None:
    """Before anything is sent."""
    data = tmp_path / "made.jsonl"
    data.write_bytes(encode_records(_RECORDS))
    with loopback(lambda _body, _number: CONTRACTS["openai"].reply({}, "")) as server:
        request = csbdata.RunRequest(
            suite=choose_suite("passrate"),
            data=data,
            models=(ModelOptions(model=f"gemini:{server.base}#small"),),
            run_dir=tmp_path / "run",
            batches="submit",
        )
        with pytest.raises(BadUsage, match="gemini has no batches"):
            csbdata.run(request)
    assert server.asked == []
