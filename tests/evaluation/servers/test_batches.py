"""Requests sent as batches: nothing is sent twice, whatever ends the command."""

from __future__ import annotations

import datetime
import json
import os
import random
import re
import signal
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import csbdata
from curation.system.errors import BadUsage, Unavailable
from evaluation.asking.request import ModelOptions, choose_suite
from evaluation.core.records import Record, encode_records
from evaluation.generation.text_generation import TokenPrices
from evaluation.servers import batches as batches_module
from evaluation.servers.pacing import Spending
from evaluation.servers.parameters import Parameters
from tests.evaluation.servers.contracts import CONTRACTS, OUTPUT, PROMPT
from tests.evaluation.servers.loopback import Handler, loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evaluation.asking.request import RunRequest

#: Each runs a suite several times.
pytestmark = pytest.mark.slow


class Batches:
    """What was sent as batches, and when each is through."""

    def __init__(self, text_of: Callable[[dict[str, Any]], str | None]) -> None:
        """Take what writes the text of a request; None refuses it."""
        self.text_of = text_of
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.requests: dict[str, list[dict[str, Any]]] = {}
        #: Whether batches come to an end.
        self.through = True
        #: Called with each path that is asked, before it is answered.
        self.on_path: Callable[[str], None] = lambda _path: None
        #: What is said in place of an answer, by its number, and of single results.
        self.exchanges = 0
        self.instead: dict[int, bytes] = {}
        self.odd: list[dict[str, Any]] = []

    @property
    def names(self) -> list[str]:
        """Every name of a request that any batch has."""
        return [it["custom_id"] for lines in self.requests.values() for it in lines]

    def new(self, lines: list[dict[str, Any]], **more: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        """Make a batch."""
        names = [line["custom_id"] for line in lines]
        assert len(set(names)) == len(names), "custom_id must be unique"
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
        name = f"batch_{len(self.batches)}"
        self.requests[name] = lines
        self.batches[name] = {"id": name, **more}
        return self.state(name)

    def state(self, name: str) -> dict[str, Any]:
        """Return how far a batch is, in the words of both vendors."""
        ends = {"output_file_id": f"out-{name}"} if self.through else {}
        counts = {"processing": 0, "succeeded": len(self.requests[name])}
        return {
            **self.batches[name],
            **ends,
            "status": "completed" if self.through else "in_progress",
            "processing_status": "ended" if self.through else "in_progress",
            "request_counts": counts,
        }

    def results(self, name: str) -> bytes:
        """Return the answers of a batch, in another order."""
        lines = [self._result(line) for line in reversed(self.requests[name])]
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)

    def _result(self, line: dict[str, Any]) -> dict[str, Any]:
        name = {"custom_id": line["custom_id"]}
        if self.odd:
            return {**name, **self.odd.pop()}
        anthropic = "params" in line
        text = self.text_of(line["params"] if anthropic else line["body"])
        error = {"type": "invalid_request_error", "message": "no such thing"}
        if anthropic:
            if text is None:
                return {
                    **name,
                    "result": {"type": "errored", "error": {"error": error}},
                }
            usage = {"input_tokens": PROMPT, "output_tokens": OUTPUT}
            content = [{"type": "text", "text": text}]
            message = {"content": content, "stop_reason": "end_turn", "usage": usage}
            return {**name, "result": {"type": "succeeded", "message": message}}
        if text is None:
            body: dict[str, Any] = {"error": {**error, "param": "x"}}
            return {**name, "response": {"status_code": 400, "body": body}}
        if "input" in line["body"]:
            item = {"type": "message", "content": [{"text": text}]}
            usage = {"input_tokens": PROMPT, "output_tokens": OUTPUT}
            body = {"status": "completed", "output": [item], "usage": usage}
            return {**name, "response": {"status_code": 200, "body": body}}
        usage = {"prompt_tokens": PROMPT, "completion_tokens": OUTPUT}
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        body = {"choices": [choice], "usage": usage}
        return {**name, "response": {"status_code": 200, "body": body}, "error": None}


class BatchHandler(Handler):
    """Answers what either vendor documents of batches, and texts as its base."""

    batches: Batches

    def do_GET(self) -> None:  # noqa: N802 (the name that http.server wants)
        """Answer how far batches are, and their results."""
        path = self.path.partition("?")[0].removeprefix("/v1")
        self.batches.on_path(path)
        own = self.batches
        match = re.fullmatch(r"(?:/messages)?/batches/(\w+?)(/results)?", path)
        if re.fullmatch(r"(?:/messages)?/batches", path):
            self._json({"data": [own.state(name) for name in own.batches]})
        elif match and match[2]:
            self._send(own.results(match[1]))
        elif match:
            self._json(own.state(match[1]))
        elif path.startswith("/files/out-"):
            name = path.removeprefix("/files/out-").removesuffix("/content")
            self._send(own.results(name))
        else:
            super().do_GET()

    def do_POST(self) -> None:  # noqa: N802 (the name that http.server wants)
        """Take files and batches."""
        path = self.path.removeprefix("/v1")
        self.batches.on_path(path)
        own = self.batches
        if path not in {"/files", "/batches", "/messages/batches"}:
            super().do_POST()
            return
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if path == "/files":
            lines = [it for it in content.splitlines() if it.startswith(b"{")]
            name = f"file_{len(own.files)}"
            own.files[name] = b"\n".join(lines)
            assert b'name="purpose"' in content
            self._json({"id": name})
        elif path == "/batches":
            told = json.loads(content)
            lines = own.files[told["input_file_id"]].splitlines()
            parsed = [json.loads(line) for line in lines]
            assert {it["url"] for it in parsed} == {told["endpoint"]}
            assert all({"body", "custom_id", "method"} < it.keys() for it in parsed)
            self._json(own.new(parsed, metadata=told["metadata"]))
        else:
            now = datetime.datetime.now(datetime.UTC).isoformat()
            self._json(own.new(json.loads(content)["requests"], created_at=now))

    def _json(self, value: object) -> None:
        self._send(json.dumps(value).encode())

    def _send(self, content: bytes) -> None:
        content = self.batches.instead.get(self.batches.exchanges, content)
        self.batches.exchanges += 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


_NUMBERED = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
_SCHEMA = json.dumps(_NUMBERED)
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
    assert {it.get("seconds") for it in responses if it["cost"] < PROMPT + OUTPUT} == {
        None
    }
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


_SEEDS = (1, 2)
_COUNT, _KILLS = 200, 20
_NAME = re.compile(r"boat(\d+)x")


@dataclass
class _Victim:
    """A process that is killed a little after one of the server's exchanges."""

    chance: random.Random
    pid: int = 0
    exchanges: int = 0
    kills: int = 0
    #: Names of records, as often as each was asked for.
    asked: Counter[str] = field(default_factory=Counter)

    def exchanged(self, *_: object) -> None:
        """Kill the process at the moment that was drawn."""
        self.exchanges -= 1
        if self.exchanges == 0 and self.pid:
            time.sleep(self.chance.random() / 50)
            self.kills += 1
            os.kill(self.pid, signal.SIGKILL)

    def run(self, request: RunRequest, exchanges: int) -> bool:
        """Run until it ends or is killed; return whether it has ended by itself."""
        self.exchanges = exchanges
        self.pid = os.fork()
        if not self.pid:
            try:
                csbdata.run(request)
            finally:
                os._exit(0)
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return not os.WIFSIGNALED(status)


def _recorded(folder: Path) -> dict[str, str]:
    """Return the texts of a folder's whole lines, by record."""
    path = folder / "responses.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    answers = [json.loads(line) for line in lines]
    texts = {it["record"]: it["text"] for it in answers}
    assert len(texts) == len(answers), "a record was answered twice"
    return texts


def _request(folder: Path, provider: str, base: str) -> RunRequest:
    data = folder / "made.jsonl"
    if not data.exists():
        schemas = [
            json.dumps({"title": f"boat{n}x", **_NUMBERED}) for n in range(_COUNT)
        ]
        records = [Record(id=f"r{n}", schema=text) for n, text in enumerate(schemas)]
        data.write_bytes(encode_records(records))
    model = ModelOptions(model=f"{provider}:{base}#small", batch=8, patience=0.1)
    return csbdata.RunRequest(
        suite=choose_suite("passrate"),
        data=data,
        engines=("strict",),
        models=(model,),
        jobs=1,
        run_dir=folder / "run",
    )


@pytest.mark.nightly
@pytest.mark.parametrize("seed", _SEEDS)
def test_a_live_run(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is recorded is not asked for again, and none is lost or replaced."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    victim = _Victim(random.Random(seed))
    answers = Counter[str]()

    def reply(body: dict[str, Any], number: int) -> Any:  # noqa: ANN401 (as the fake's)
        name = f"r{_NAME.search(json.dumps(body))[1]}"  # type: ignore[index]  # always there
        answers[name] += 1
        said = CONTRACTS["openai"].reply(body, json.dumps({"n": number}))
        victim.exchanged()
        return said

    with loopback(reply) as server:
        request = _request(tmp_path, "openai", server.base)
        while victim.kills < _KILLS:
            before = _recorded(tmp_path / "run")
            answers.clear()
            drawn = victim.chance.randint(1, 2 * (_COUNT - len(before)) // 25 + 2)
            assert not victim.run(request, drawn)
            assert not before.keys() & answers.keys()
            now = _recorded(tmp_path / "run")
            assert before.items() <= now.items()
        before = _recorded(tmp_path / "run")
        answers.clear()
        assert victim.run(request, 0)
    assert set(answers) == {f"r{n}" for n in range(_COUNT)} - before.keys()
    assert len(_recorded(tmp_path / "run")) == _COUNT


@pytest.mark.nightly
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("seed", _SEEDS)
def test_a_batch(
    tmp_path: Path, seed: int, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request is in two batches, wherever sending or fetching was interrupted."""
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "a-key")
    monkeypatch.setattr(batches_module, "_MOST", 20)
    victim = _Victim(random.Random(seed))
    batches = Batches(lambda _body: '{"n": 1}')
    batches.on_path = victim.exchanged

    def reply(body: dict[str, Any], _number: int) -> Any:  # noqa: ANN401 (as the fake's)
        return CONTRACTS[provider].reply(body, '{"n": 1}')

    with loopback(reply, base=BatchHandler, batches=batches) as server:
        request = _request(tmp_path, provider, server.base)
        ends = 0
        while victim.kills < _KILLS or ends < 2:
            before = _recorded(tmp_path / "run")
            verb = victim.chance.choice(["submit", "collect"])
            batches.through = victim.chance.random() < 0.3 or ends > 0
            drawn = 0 if victim.kills >= _KILLS else victim.chance.randint(1, 6)
            if victim.kills >= _KILLS:
                verb = ("submit", "collect")[ends]
                ends += 1
            victim.run(replace(request, batches=verb), drawn)
            assert before.items() <= _recorded(tmp_path / "run").items()
    assert len(batches.names) == len(set(batches.names)) < _COUNT
    assert len(_recorded(tmp_path / "run")) == _COUNT
