"""Whatever a server does, one text is asked for once more or told of, never lost."""

from __future__ import annotations

import itertools
import json
import time
from contextlib import closing
from socket import create_server, socket
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs
from requests import ConnectTimeout, HTTPError, Session
from requests.auth import HTTPBasicAuth

from curation.system.credentials import split_url
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
from evaluation.servers.model_server import served_model
from evaluation.servers.pacing import (
    Account,
    SharedBackoff,
    Spending,
    SpendingLimit,
)
from evaluation.servers.provider import providers
from evaluation.servers.refusals import RefusalClass, read_refusal
from tests.evaluation.servers.loopback import (
    Loopback,
    Said,
    answer,
    connection,
    event,
    loopback,
    refusal,
    tells_models,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


KEY = "made-up-key-of-this-test"
_LIMITS = RequestLimits(seconds=5.0, patience=2.0, tries=3)


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


@pytest.fixture
def replies() -> list[Said]:
    """Return what the server says in turn, the last for ever."""
    return []


@pytest.fixture
def server(replies: list[Said]) -> Iterator[Loopback]:
    """Return a server on loopback."""
    with loopback(replies) as opened:
        yield opened


@pytest.fixture
def client(
    server: Loopback, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ServerClient]:
    """Return a client of the server, with a key."""
    monkeypatch.setenv("MADE_UP_KEY", KEY)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    there = ServerConnection(
        base=server.base,
        model="small",
        provider=structs.replace(providers()[""], keys=("MADE_UP_KEY",)),
        limits=_LIMITS,
    )
    opened = ServerClient(there, _backoff(clock, _LIMITS.patience))
    yield opened
    opened.close()


def test_a_stream_is_read_to_its_end(
    server: Loopback, replies: list[Said], client: ServerClient
) -> None:
    """Pieces, the reason of the end and the counts of the server are all there."""
    replies.append(answer('{"a"', ": 1}"))
    found = client.ask({"model": "small"})
    assert found.text == '{"a": 1}'
    assert (found.finish, found.prompt_tokens, found.output_tokens) == ("stop", 7, 2)
    (first, _), (last, characters) = found.pieces
    assert found.asked_ns < first <= last
    assert characters == 4
    assert server.asked == [{"model": "small"}]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def _body(content: str, status: int = 200, **headers: str) -> Said:
    return Said(status=status, pieces=[content.encode()], headers=headers)


_NESTED = "[" * 100_000 + "]" * 100_000
_GEMINI = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}


def _lines(content: str) -> Said:
    return _body(f"data: {content}\n\n")


_NO_JSON = "that is not JSON; given up"
#: What a server says before it answers, why it is given up if it is, and the waits.
_TROUBLES: dict[str, tuple[list[Said], str, list[float]]] = {
    "429": ([_body("slow down", 429)], "", [1.0]),
    "429 with a time": ([_body("later", 429, Retry_After="40")], "", [40.0]),
    "429 is no try": (
        [_body("later", 429, Retry_After="1")] * 4,
        "",
        [1.0, 2.0, 4.0, 8.0],
    ),
    "503 is no try": (
        [_body("later", 503, Retry_After="1")] * 4,
        "",
        [1.0, 2.0, 4.0, 8.0],
    ),
    "Gemini's time": ([refusal(429, {"error": {"details": [_GEMINI]}})], "", [34.0]),
    "500": ([_body("oh no", 500)], "", [1.0]),
    "503": ([_body("busy", 503)], "", [1.0]),
    "cut": ([Said(pieces=[event(content='{"a"')])], "", [1.0]),
    "broken": ([_lines("{broken")], "", [1.0]),
    "error": ([_lines('{"error": {"message": "lost"}}')], "", [1.0]),
    "no object": ([_lines("[1]")], "", [1.0]),
    "no choices": ([_lines('{"choices": 5}')], "", [1.0]),
    "no text": ([Said(pieces=[event(content={})])], "", [1.0]),
    "deep error": ([_lines(f'{{"error": {_NESTED}}}')], "", [1.0]),
    "deep": ([_lines(f'{{"unknown": {_NESTED}}}')], "", [1.0]),
    "tries": ([_body("oh no", 500)] * 3, "HTTP 500: oh no; given up", [1.0, 2.0]),
    "broken for ever": ([_lines("{broken")] * 3, _NO_JSON, [1.0, 2.0]),
    "too long a wait": (
        [_body("later", 429, Retry_After=wait) for wait in ("40", "4000")],
        "later",
        [40.0],
    ),
}


@pytest.mark.parametrize("name", _TROUBLES)
def test_trouble_that_may_pass_is_tried_again(
    server: Loopback,
    replies: list[Said],
    client: ServerClient,
    clock: Clock,
    name: str,
) -> None:
    """After each trouble, and a wait; it is given up after the last try.

    Or if a server asks for too long a wait.
    """
    said, words, waits = _TROUBLES[name]
    replies += [*said, answer("{}")]
    if words:
        with pytest.raises(RetriesExhausted, match=words):
            client.ask({})
    else:
        assert client.ask({}).text == "{}"
    assert len(server.asked) == len(waits) + 1
    assert clock.slept == waits


@pytest.mark.parametrize("fault", [ConnectTimeout, HTTPError])
def test_a_lost_connection_is_made_again(
    replies: list[Said],
    client: ServerClient,
    monkeypatch: pytest.MonkeyPatch,
    fault: type[Exception],
) -> None:
    """It is no answer that is late: nothing was asked."""
    faults, post = [fault()], Session.post

    def lost(self: Session, url: str, **more: Any) -> Any:  # noqa: ANN401 (requests' own)
        if faults:
            raise faults.pop()
        return post(self, url, **more)

    monkeypatch.setattr(Session, "post", lost)
    replies.append(answer("{}"))
    assert client.ask({}).text == "{}"


@pytest.mark.parametrize(
    ("said", "fault", "words"),
    [
        (_body("unsupported keyword: not", 400), RequestRefused, "keyword: not"),
        (_body(f"bad key {KEY}", 401), NotPermitted, "MADE_UP_KEY"),
        (_body(f"bad key {KEY}", 403), NotPermitted, "MADE_UP_KEY"),
        (_body(f"cannot with {KEY}", 422), RequestRefused, "***"),
        (Said(status=422, pieces=[b"no " * 4096] * 4096), RequestRefused, "no no"),
    ],
    ids=["schema", "401", "403", "key", "endless"],
)
def test_a_refusal_is_told_at_once(  # noqa: PLR0913, PLR0917 (a row of the table)
    server: Loopback,
    replies: list[Said],
    client: ServerClient,
    said: Said,
    fault: type[Exception],
    words: str,
) -> None:
    """With the first of its words and the variable of a key, which is never told."""
    replies.append(said)
    with pytest.raises(fault) as caught:
        client.ask({})
    told = f"{caught.value} {getattr(caught.value, 'hint', '')}"
    assert words in told
    assert KEY not in told
    assert len(str(caught.value)) < 400
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "piece", [b"x" * 65536, b"data: {}\n\n" * 4096], ids=["no line's end", "events"]
)
def test_a_server_that_sends_for_ever_is_given_up(
    replies: list[Said],
    client: ServerClient,
    piece: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What has no end is cut off by its size, and does not fill memory."""
    monkeypatch.setattr("evaluation.servers.answers._MAX_BYTES", 2**16)
    replies.append(Said(pieces=[piece] * 4096))
    with pytest.raises(RetriesExhausted, match="bytes"):
        client.ask({})


def test_an_endless_list_of_models_is_no_server() -> None:
    """What a server says of itself is bounded too."""
    endless = Said(pieces=itertools.repeat(b"[" * 65536))  # type: ignore[arg-type]  # no end
    with (
        loopback(about=lambda _path: endless) as server,
        pytest.raises(Unavailable),
    ):
        _client(server).description()


def test_an_event_may_come_in_pieces(replies: list[Said], client: ServerClient) -> None:
    """Where a server cuts its stream says nothing of where its lines end."""
    whole = b"".join(answer('{"caf\u00e9"', ": 1}").pieces)  # type: ignore[arg-type]  # no pause is among them
    replies.append(Said(pieces=[whole[i : i + 7] for i in range(0, len(whole), 7)]))
    assert client.ask({}).text == '{"caf\u00e9": 1}'


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ((), "#NAME (any)"),
        (("small",), ""),
        (tuple("abcdef"), "#NAME (a, b, c, d, e)"),
    ],
)
def test_which_model_is_meant_has_to_be_said(names: tuple[str, ...], said: str) -> None:
    """Behind a number sign, of a server with several, or with none that it names."""
    with loopback(about=tells_models(*names)) as server:
        (one,) = served_model(f"{server.base}/#a/b", ["none"], RequestLimits())
        assert (one.connection.base, one.connection.model) == (server.base, "a/b")
        if said:
            with pytest.raises(BadConfiguration, match="several models") as caught:
                served_model(server.base, ["none"], RequestLimits())
            assert caught.value.hint == f"say {server.base}{said}"
        else:
            (one,) = served_model(server.base, ["none"], RequestLimits())
            assert one.connection.model == "small"


def _client(server: Loopback) -> ServerClient:
    return ServerClient(connection(base=server.base))


def test_connections_are_kept() -> None:
    """Requests one after the other, refused ones among them, share a connection."""
    refused = Said(
        status=400, pieces=[b'{"error": {"message": "this model takes no schema"}}']
    )
    replies = [answer("{}"), answer("{}"), refused, answer("{}")]
    with loopback(replies) as server, closing(_client(server)) as client:
        client.description()
        for number in range(6):
            if number == 2:
                with pytest.raises(RequestRefused):
                    client.ask({})
            else:
                assert client.ask({}).text == "{}"
    assert len(server.asked) == 6
    assert server.connections == 1


@pytest.mark.parametrize(
    "rest", [[], [b": said after the end\n" * 10_000]], ids=["silence", "a flood"]
)
def test_a_stream_that_stays_open_holds_nobody_up(rest: list[bytes]) -> None:
    """After `[DONE]` the answer is there, whatever the server does with its line."""
    said = Said(pieces=[*answer("{}").pieces, *rest], ends=False)
    with loopback([said, answer("{}")]) as server:
        client = _client(server)
        assert [client.ask({}).text for _ in range(2)] == ["{}", "{}"]
        client.close()
    assert server.connections == 2


def test_headers_that_drip_do_not_outlast_the_deadline() -> None:
    """Each byte comes in time, the deadline is that of them all; it may cost."""
    spending = Spending(max_cost=1.0)
    account = Account(spending, TokenPrices(prompt=1e6, output=1e6))
    over = Event()

    def drip(listening: socket) -> None:
        opened, _ = listening.accept()
        with opened:
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 1_000:
                if over.wait(0.1):
                    return
                opened.sendall(bytes([byte]))

    with create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=drip, args=(listening,), daemon=True)
        thread.start()
        base = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        limits = RequestLimits(seconds=0.5)
        client = ServerClient(connection(base=base, limits=limits), account=account)
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
    with loopback([said]) as server, closing(_client(server)) as client:
        found = client.ask({})
    assert (found.text, found.finish, found.output_tokens) == ("{}", "stop", 1)
    assert len(found.pieces) == 1


_TROUBLE = ("wait", "again -1")
_EIGHT = tuple(f"again {number}" for number in range(8))


@pytest.mark.parametrize(
    ("steps", "slept"),
    [
        # Trouble after trouble waits longer; after an answer it begins anew.
        ((*_TROUBLE * 3, "wait", "answer", *_TROUBLE, "wait"), [1, 2, 4, 1]),
        # What eight meet at once is one trouble: they wait one second, not 128.
        ((*["wait"] * 8, *_EIGHT, "wait"), [1]),
        ((*["wait"] * 8, "pass 0.1", *_EIGHT, "wait"), [1]),
        # `Retry-After` counts for everybody, also where it came to an older request.
        (("wait", "wait", "again 1", "again 0 40", "wait"), [40]),
        # A minute without any answer is the budget; one answer fills it again.
        (
            (*_TROUBLE * 5, "wait", "over -1", "answer", "pass 60", *_TROUBLE),
            [1, 2, 4, 8, 16],
        ),
    ],
)
def test_all_leave_a_server_in_trouble_alone(
    clock: Clock, steps: tuple[str, ...], slept: list[float]
) -> None:
    """`again` and `over` name the request that met trouble, by its number."""
    backoff, sent = _backoff(clock, minutes=1), []
    for step in steps:
        name, *numbers = step.split()
        if name == "wait":
            sent.append(backoff.wait())
        elif name == "answer":
            backoff.answered()
        elif name == "pass":
            clock.now += float(numbers[0])
        else:
            again = backoff.again_after(sent[int(numbers[0])], *map(float, numbers[1:]))
            assert again is (name == "again")
    assert clock.slept == pytest.approx(slept)


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


@pytest.mark.parametrize(
    ("before", "sent"),
    [("", None), ("ada@", (b"ada", b"")), (":pw7@", (b"", b"pw7"))],
)
def test_a_name_or_a_password_alone_is_sent(
    before: str, sent: tuple[bytes, bytes] | None
) -> None:
    """And neither is in what a trace of an error shows of the connection."""
    address = split_url(f"http://{before}127.0.0.1:9/v1")
    there = connection(base=address.clean, address=address)
    with closing(ServerClient(there)) as client:
        assert client._session.auth == (sent and HTTPBasicAuth(*sent))
    assert "ada" not in repr(there)
    assert "pw7" not in repr(there)


@pytest.mark.parametrize(
    ("status", "code", "meant"),
    [
        (200, 400, 400),
        (200, 599, 599),
        (200, 399, 200),
        (200, 600, 200),
        (400, 429, 400),
    ],
)
def test_an_error_in_a_success_names_its_status(
    status: int, code: int, meant: int
) -> None:
    """Where it has a status of an error as its code."""
    assert read_refusal(status, json.dumps({"error": {"code": code}})).status == meant


@given(_JSON.map(json.dumps) | st.text())
@example("x" * 400)
def test_any_body_is_read(body: str) -> None:
    """Whatever a server sends, it is one line of bounded length with some cause."""
    refusal = read_refusal(400, body)
    for provider in providers().values():
        assert provider.refusal_class(refusal) in RefusalClass
    assert len(str(refusal)) <= 300
    assert "\n" not in str(refusal)
