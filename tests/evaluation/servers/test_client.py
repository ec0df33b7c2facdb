"""Whatever a server does, one text is asked for once more or told of, never lost."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from socket import create_server, socket
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from werkzeug import Response

from curation.system.errors import BadConfiguration, NotPermitted, Unavailable
from evaluation.core.records import TokenPrices
from evaluation.servers.client import (
    DeadlinePassed,
    RequestLimits,
    RequestRefused,
    RetriesExhausted,
    ServerClient,
    ServerConnection,
)
from evaluation.servers.formats.answers import ServerAnswer
from evaluation.servers.model_server import served_model
from evaluation.servers.pacing import (
    Account,
    SharedBackoff,
    Spending,
    SpendingLimit,
)
from evaluation.servers.provider import providers
from evaluation.servers.refusals import RefusalClass, read_refusal
from tests.evaluation.servers.loopback import Loopback, Said, answer, event, loopback

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_httpserver import HTTPServer
    from werkzeug import Request


KEY = "made-up-key-of-this-test"
#: JSON that nests deeper than any parser goes.
NESTED = "[" * 100_000 + "]" * 100_000
_LIMITS = RequestLimits(seconds=5.0, patience=2.0, tries=3)


def events(*pieces: str, finish: str = "stop", done: bool = True) -> str:
    """Return a stream of server-sent events that say these pieces."""
    told: list[dict[str, Any]] = [
        {"choices": [{"delta": {"content": piece}}]} for piece in pieces
    ]
    if finish:
        told.append({"choices": [{"delta": {}, "finish_reason": finish}]})
        told.append(
            {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
        )
    lines = [f"data: {json.dumps(each)}\n\n" for each in told]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""])


class Script:
    """Answers requests one after the other, and keeps what was asked."""

    def __init__(self, *answers: Response) -> None:
        """Say the answers; the last one is given for ever."""
        self.answers = list(answers)
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Response:
        """Give the next answer."""
        self.asked.append(request)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Slept:
    """Stands in for a clock: it goes on while somebody sleeps."""

    def __init__(self) -> None:
        """Begin with no waits."""
        self.waits: list[float] = []

    def __call__(self, seconds: float) -> None:
        """Keep one wait."""
        self.waits.append(seconds)

    def now(self) -> float:
        """Return how long was slept."""
        return sum(self.waits)


@pytest.fixture
def slept() -> Slept:
    """Return what stands in for sleeping."""
    return Slept()


@pytest.fixture
def client(
    httpserver: HTTPServer, slept: Slept, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ServerClient]:
    """Return a client of the server on loopback, with a key."""
    monkeypatch.setenv("MADE_UP_KEY", KEY)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    connection = ServerConnection(
        base=httpserver.url_for("/v1").rstrip("/"),
        model="small",
        provider=structs.replace(providers()[""], keys=("MADE_UP_KEY",)),
        limits=_LIMITS,
    )
    backoff = SharedBackoff(_LIMITS.patience, clock=slept.now, sleep=slept)
    opened = ServerClient(connection, backoff)
    yield opened
    opened.close()


def _serve(httpserver: HTTPServer, *answers: Response) -> Script:
    script = Script(*answers)
    httpserver.expect_request(
        "/v1/chat/completions", method="POST"
    ).respond_with_handler(script)
    return script


def test_a_stream_is_read_to_its_end(
    httpserver: HTTPServer, client: ServerClient
) -> None:
    """Pieces, the reason of the end and the counts of the server are all there."""
    script = _serve(httpserver, Response(events('{"a"', ": 1}")))
    answer, start = client.ask({"model": "small"})
    assert answer.text == '{"a": 1}'
    assert (answer.finish, answer.prompt_tokens, answer.output_tokens) == ("stop", 7, 3)
    (first, _), (last, characters) = answer.pieces
    assert start < first <= last
    assert characters == 4
    sent = script.asked[0]
    assert json.loads(sent.data) == {"model": "small"}
    assert sent.headers["Authorization"] == f"Bearer {KEY}"


_TROUBLES = {
    "429": Response("slow down", status=429),
    "500": Response("oh no", status=500),
    "503": Response("busy", status=503),
    "cut": Response(events('{"a"', finish="", done=False)),
    "broken": Response("data: {broken\n\n"),
    "error": Response('data: {"error": {"message": "lost"}}\n\n'),
    "no object": Response("data: [1]\n\n"),
    "no choices": Response('data: {"choices": 5}\n\n'),
    "no text": Response('data: {"choices": [{"delta": {"content": {}}}]}\n\n'),
    "deep error": Response(f'data: {{"error": {NESTED}}}\n\n'),
    "deep": Response(f'data: {{"unknown": {NESTED}}}\n\n'),
}


@pytest.mark.parametrize("trouble", _TROUBLES.values(), ids=_TROUBLES)
def test_trouble_that_may_pass_is_tried_again(
    httpserver: HTTPServer, client: ServerClient, trouble: Response
) -> None:
    """After one trouble the whole answer of the next try counts."""
    script = _serve(httpserver, trouble, Response(events("{}")))
    assert client.ask({})[0].text == "{}"
    assert len(script.asked) == 2


def test_the_budget_of_tries_ends(
    httpserver: HTTPServer, client: ServerClient, slept: Slept
) -> None:
    """A server that is always in trouble is given up after the last try."""
    script = _serve(httpserver, Response("oh no", status=500))
    with pytest.raises(RetriesExhausted, match="HTTP 500: oh no; given up"):
        client.ask({})
    assert len(script.asked) == 3
    assert slept.waits == [1.0, 2.0]


def test_retry_after_is_honoured_up_to_the_budget(
    httpserver: HTTPServer, client: ServerClient, slept: Slept
) -> None:
    """The wait is what the server asks for, and none that the budget does not hold."""
    asks = Response("later", status=429, headers={"Retry-After": "40"})
    long = Response("later", status=429, headers={"Retry-After": "4000"})
    _serve(httpserver, asks, long)
    with pytest.raises(RetriesExhausted):
        client.ask({})
    assert slept.waits == [40.0]


def test_gemini_tells_its_wait_in_the_body(
    httpserver: HTTPServer, client: ServerClient, slept: Slept
) -> None:
    """In `RetryInfo`, and not in a header."""
    details = [
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
    ]
    body = {"error": {"code": 429, "message": "later", "details": details}}
    busy = Response(json.dumps(body), status=429)
    _serve(httpserver, busy, Response(events("{}")))
    assert client.ask({})[0].text == "{}"
    assert slept.waits == [34.0]


@pytest.mark.parametrize("status", [429, 503])
def test_being_told_to_wait_is_no_try(
    httpserver: HTTPServer, client: ServerClient, status: int
) -> None:
    """A busy server may say so more often than a text may meet trouble."""
    busy = Response("later", status=status, headers={"Retry-After": "1"})
    _serve(httpserver, *[busy] * 4, Response(events("{}")))
    assert client.ask({})[0].text == "{}"


def test_a_refusal_is_no_trouble(httpserver: HTTPServer, client: ServerClient) -> None:
    """A schema that the server does not take is told at once, with its words."""
    script = _serve(httpserver, Response("unsupported keyword: not", status=400))
    with pytest.raises(RequestRefused, match="unsupported keyword: not"):
        client.ask({})
    assert len(script.asked) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_is_a_fault(
    httpserver: HTTPServer, client: ServerClient, status: int
) -> None:
    """Without permission nothing goes on, and the key's variable is named."""
    _serve(httpserver, Response(f"bad key {KEY}", status=status))
    with pytest.raises(NotPermitted) as caught:
        client.ask({})
    assert "MADE_UP_KEY" in str(caught.value.then)
    assert KEY not in str(caught.value)


def test_the_key_is_never_repeated(
    httpserver: HTTPServer, client: ServerClient
) -> None:
    """A server that repeats the key in its error does not get it into ours."""
    _serve(httpserver, Response(f"cannot with {KEY}", status=422))
    with pytest.raises(RequestRefused) as caught:
        client.ask({})
    assert KEY not in str(caught.value)
    assert "***" in str(caught.value)


def test_a_redirect_gets_no_key(httpserver: HTTPServer, client: ServerClient) -> None:
    """Another address that the server names is not followed."""
    elsewhere = Response(status=307, headers={"Location": httpserver.url_for("/x")})
    _serve(httpserver, elsewhere)
    with pytest.raises(BadConfiguration, match="HTTP 307: look"):
        client.ask({})


def _for_ever(piece: bytes) -> Response:
    return Response(iter(lambda: piece, b""), direct_passthrough=True)


@pytest.mark.parametrize(
    "piece", [b"x" * 65536, b"data: {}\n\n" * 4096], ids=["no line's end", "events"]
)
def test_a_server_that_sends_for_ever_is_given_up(
    httpserver: HTTPServer,
    client: ServerClient,
    piece: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What has no end is cut off by its size, and does not fill memory."""
    monkeypatch.setattr("evaluation.servers.formats.answers._MOST_BYTES", 2**16)
    _serve(httpserver, _for_ever(piece))
    with pytest.raises(RetriesExhausted, match="bytes"):
        client.ask({})


def test_an_endless_refusal_is_told_by_its_beginning(
    httpserver: HTTPServer, client: ServerClient
) -> None:
    """Of an error as long as it likes only the first words are read."""
    endless = Response(iter(lambda: b"no " * 4096, b""), status=422)
    _serve(httpserver, endless)
    with pytest.raises(RequestRefused) as caught:
        client.ask({})
    assert len(str(caught.value)) < 400


def test_an_endless_list_of_models_is_no_server(
    httpserver: HTTPServer, client: ServerClient
) -> None:
    """What a server says of itself is bounded too."""
    httpserver.expect_request("/v1/models").respond_with_handler(
        lambda _request: _for_ever(b"[" * 65536)
    )
    with pytest.raises(Unavailable):
        client.description()


def test_a_list_of_models_that_nests_too_deeply_is_no_server(
    httpserver: HTTPServer, client: ServerClient
) -> None:
    """What no parser can read is no list of models, and no defect of ours."""
    httpserver.expect_request("/v1/models").respond_with_data(NESTED)
    with pytest.raises(Unavailable):
        client.description()


def test_an_event_may_come_in_pieces(
    httpserver: HTTPServer, client: ServerClient
) -> None:
    """Where a server cuts its stream says nothing of where its lines end."""
    whole = events('{"caf\u00e9"', ": 1}").encode()
    cut = Response(iter([whole[i : i + 7] for i in range(0, len(whole), 7)]))
    _serve(httpserver, cut)
    assert client.ask({})[0].text == '{"caf\u00e9": 1}'


def test_nobody_there_is_unavailable() -> None:
    """A server that does not answer at all is named, with exit code 69."""
    connection = ServerConnection(base="http://127.0.0.1:9/v1", model="")
    client = ServerClient(connection)
    with pytest.raises(Unavailable):
        client.description()
    client.close()


@pytest.mark.parametrize(("end", "model"), [("/#a/b", "a/b"), ("", "small")])
def test_an_address_holds_the_model_behind_a_number_sign(end: str, model: str) -> None:
    """`URL#owner/name` is a server and one of its models; without one, its only one."""
    with loopback(lambda _body, _number: answer("{}")) as server:
        (one,) = served_model(f"{server.base}{end}", ["none"], RequestLimits())
    assert (one.connection.base, one.connection.model) == (server.base, model)


def _client(server: Loopback, seconds: float = 5.0) -> ServerClient:
    connection = ServerConnection(
        base=server.base, model="small", limits=RequestLimits(seconds=seconds)
    )
    return ServerClient(connection)


def test_connections_are_kept() -> None:
    """Requests one after the other, refused ones among them, share a connection."""
    refused = Said(
        status=400, pieces=[b'{"error": {"message": "this model takes no schema"}}']
    )
    with loopback(lambda _, number: refused if number == 2 else answer("{}")) as server:
        client = _client(server)
        client.description()
        for number in range(6):
            if number == 2:
                with pytest.raises(RequestRefused):
                    client.ask({})
            else:
                assert client.ask({})[0].text == "{}"
        client.close()
    assert len(server.asked) == 6
    assert server.connections == 1


@pytest.mark.parametrize(
    "rest", [[], [b": said after the end\n" * 10_000]], ids=["silence", "a flood"]
)
def test_a_stream_that_stays_open_holds_nobody_up(rest: list[bytes]) -> None:
    """After `[DONE]` the answer is there, whatever the server does with its line."""
    said = Said(pieces=[*answer("{}").pieces, *rest], ends=False)
    with loopback(lambda _, number: answer("{}") if number else said) as server:
        client = _client(server)
        assert [client.ask({})[0].text for _ in range(2)] == ["{}", "{}"]
        client.close()
    assert server.connections == 2


def test_a_deadline_is_no_trouble() -> None:
    """What was not written in time is told with what there is, and not asked again."""
    slow = Said(pieces=[event(content='{"a'), 3.0])
    with loopback(lambda _body, _number: slow) as server:
        client = _client(server, seconds=1.5)
        with pytest.raises(DeadlinePassed) as caught:
            client.ask({})
        client.close()
    assert caught.value.answer.text == '{"a'
    assert len(server.asked) == 1


def test_headers_that_drip_do_not_outlast_the_deadline() -> None:
    """Each byte comes in time, the deadline is that of them all; it may cost."""
    spending = Spending(max_cost=1.0)
    account = Account(spending, TokenPrices(prompt=1e6, output=1e6))
    over = Event()

    def drip(listening: socket) -> None:
        connection, _ = listening.accept()
        with connection:
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 1_000:
                if over.wait(0.1):
                    return
                connection.sendall(bytes([byte]))

    with create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=drip, args=(listening,), daemon=True)
        thread.start()
        base = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        limits = RequestLimits(seconds=0.5)
        there = ServerConnection(base=base, model="m", limits=limits)
        client = ServerClient(there, account=account)
        begun = time.monotonic()
        with pytest.raises(DeadlinePassed):
            client.ask({}, budget=9)
        assert time.monotonic() - begun < 50
        client.close()
        over.set()
        thread.join()
    with pytest.raises(SpendingLimit):
        spending.send()


def test_an_answer_that_is_not_streamed_is_one_piece() -> None:
    """A server that ignores `stream` answers with one object, which counts."""
    whole = {
        "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 1},
    }
    said = Said(pieces=[json.dumps(whole, indent=1).encode()])
    with loopback(lambda _body, _number: said) as server:
        client = _client(server)
        found, _ = client.ask({})
        client.close()
    assert (found.text, found.finish, found.output_tokens) == ("{}", "stop", 1)
    assert len(found.pieces) == 1


def test_everybody_waits_while_the_server_wants_to_be_left_alone() -> None:
    """Of eight requests that are told to wait, none is sent before the time is over."""
    told = Said(status=429, pieces=[b"later"], headers={"Retry-After": "1"})
    moments: list[float] = []

    def reply(_body: object, number: int) -> Said:
        moments.append(time.monotonic())
        return told if number == 0 else answer("{}")

    with loopback(reply) as server:
        client = _client(server)
        with ThreadPoolExecutor(8) as pool:
            first = pool.submit(client.ask, {})
            while len(server.asked) < 1:
                time.sleep(0.01)
            time.sleep(0.1)
            rest = [pool.submit(client.ask, {}) for _ in range(7)]
            texts = [one.result()[0].text for one in (first, *rest)]
        client.close()
    assert texts == ["{}"] * 8
    assert len(moments) == 9
    assert min(moments[1:]) - moments[0] >= 1


class Clock:
    """A clock that goes on while somebody sleeps."""

    def __init__(self) -> None:
        """Begin at nought."""
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    """Return a clock."""
    return Clock()


def _backoff(clock: Clock, minutes: float = 10) -> SharedBackoff:
    return SharedBackoff(minutes, clock=lambda: clock.now, sleep=clock.sleep)


def test_without_trouble_nobody_waits(clock: Clock) -> None:
    """A request is sent at once."""
    _backoff(clock).wait()
    assert clock.slept == []


def test_what_many_meet_at_once_is_one_trouble(clock: Clock) -> None:
    """Eight requests that fail together wait one second, not 128."""
    backoff = _backoff(clock)
    sent = [backoff.wait() for _ in range(8)]
    clock.now += 0.1
    assert all(backoff.again_after(moment) for moment in sent)
    backoff.wait()
    assert sum(clock.slept) == pytest.approx(1.0)


def test_pauses_double_until_there_is_an_answer(clock: Clock) -> None:
    """Trouble after trouble waits longer; after an answer it begins anew."""
    backoff = _backoff(clock)
    for _ in range(3):
        backoff.again_after(backoff.wait())
    backoff.wait()
    assert clock.slept == [1.0, 2.0, 4.0]
    backoff.answered()
    backoff.again_after(backoff.wait())
    backoff.wait()
    assert clock.slept[-1] == 1.0


def test_one_request_that_is_told_to_wait_holds_all(clock: Clock) -> None:
    """`Retry-After` counts for everybody, also where it came to an older request."""
    backoff = _backoff(clock)
    early, late = backoff.wait(), backoff.wait()
    backoff.again_after(late)
    backoff.again_after(early, requested=40.0)
    backoff.wait()
    assert sum(clock.slept) == 40.0


def test_the_budget_is_of_minutes_without_any_answer(clock: Clock) -> None:
    """After so long there is no waiting any more; one answer fills the budget again."""
    backoff = _backoff(clock, minutes=1)
    tries = 0
    while backoff.again_after(backoff.wait()):
        tries += 1
    assert tries == 5
    assert clock.now <= 60
    backoff.answered()
    clock.now += 60
    assert backoff.again_after(backoff.wait())


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 200)), max_size=40))
def test_nobody_waits_beyond_the_budget(steps: list[tuple[bool, float]]) -> None:
    """Whatever a server says, and however long it wants, waiting is bounded."""
    clock = Clock()
    backoff = _backoff(clock, minutes=2)
    without_answer = 0.0
    for answered, asked in steps:
        before = clock.now
        sent = backoff.wait()
        without_answer += clock.now - before
        if answered:
            backoff.answered()
            without_answer = 0.0
        else:
            backoff.again_after(sent, asked)
        assert without_answer <= 120 * (1 + 1e-9)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "detail", "message", "loc", "msg", "param"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON.map(json.dumps) | st.text())
def test_any_body_is_read(body: str) -> None:
    """Whatever a server sends, it is one line of bounded length with some cause."""
    refusal = read_refusal(400, body)
    for provider in providers().values():
        assert provider.refusal_class(refusal) in RefusalClass
    assert len(str(refusal)) <= 300
    assert "\n" not in str(refusal)


@pytest.mark.parametrize("number", [-1, 2.0**40, float("nan"), None])
def test_a_count_that_no_server_can_mean_is_none(number: float | None) -> None:
    """Else a limit of cost would fall, or never be reached."""
    answer = ServerAnswer()
    answer.count(number, 3)
    assert (answer.prompt_tokens, answer.output_tokens) == (None, 3)
