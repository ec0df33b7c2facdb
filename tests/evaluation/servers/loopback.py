"""A server on loopback that says what a test wants, over connections that are kept."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from evaluation.core.records import Adapt, Message, Record
from evaluation.generation.text_generation import GenerationRequest
from evaluation.servers.client import RequestLimits, ServerClient, ServerConnection
from evaluation.servers.model_server import server_participants
from evaluation.servers.pacing import SharedBackoff
from evaluation.servers.provider import providers
from evaluation.servers.served_model import ServedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evaluation.generation.text_generation import Generation

    #: What is answered to the body of a request and its number, from 0; or the answers
    #: in turn, the last for ever.
    Reply = Callable[[dict[str, Any], int], "Said"] | Sequence["Said"]

#: What a text has to be, unless a test says otherwise.
SCHEMA = '{"type": "object", "required": ["deck"]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer: a status, and pieces of a body with pauses of seconds between."""

    status: int = 200
    pieces: Sequence[bytes | float] = ()
    headers: dict[str, str] = field(default_factory=dict)
    #: Whether the body is ended; else the connection stays open and says no more.
    ends: bool = True


@dataclass(slots=True)
class Loopback:
    """What the server was asked, and over how many connections."""

    base: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    #: The path of each request, and its headers by their names in small letters.
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    #: What it was asked of itself, with the host that was meant.
    described: list[tuple[str, str]] = field(default_factory=list)
    connections: int = 0
    #: Most requests that were under way at the same time.
    most: int = 0
    under_way: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)


def event(**choice: Any) -> bytes:  # noqa: ANN401 (any JSON)
    """Return one event: `content`, `refusal`, ... of the delta; `finish`; `usage`."""
    finish, usage = choice.pop("finish", None), choice.pop("usage", None)
    told: dict[str, Any] = {"choices": [{"delta": choice, "finish_reason": finish}]}
    if usage is not None:
        told["usage"] = usage
    return f"data: {json.dumps(told)}\n\n".encode()


def answer(
    *pieces: str,
    finish: str = "stop",
    usage: dict[str, Any] | None = None,
    **first: str,
) -> Said:
    """Return a stream that says these pieces; `first` are members of a first delta."""
    counted = {"prompt_tokens": 7, "completion_tokens": len(pieces)}
    return Said(
        pieces=[
            *([event(**first)] if first else []),
            *(event(content=piece) for piece in pieces),
            event(finish=finish, usage=counted if usage is None else usage),
            b"data: [DONE]\n\n",
        ]
    )


def refusal(status: int, content: object, **headers: str) -> Said:
    """Return an error with a JSON body."""
    return Said(
        status=status, pieces=[json.dumps(content).encode()], headers=dict(headers)
    )


#: The answer of most tests.
EMPTY = (answer("{}"),)


def tells_models(*names: str) -> Callable[[str], Said]:
    """Return what tells the models of a server, and nothing else of itself."""
    models = refusal(200, {"data": [{"id": name} for name in names]})
    paths = {"/v1/models", "/v1/tags"}
    return lambda path: models if path.partition("?")[0] in paths else Said(status=404)


#: What most servers tell of themselves.
_SMALL = tells_models("small")


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection; all but the first members are set for each server."""

    protocol_version = "HTTP/1.1"
    # Pieces are sent as they are, not put together.
    disable_nagle_algorithm = True
    seen: Loopback
    #: The path and the authorisation of every request.
    heads: list[tuple[str, str]]
    reply: Callable[[dict[str, Any], int], Said]
    about: Callable[[str], Said]

    def setup(self) -> None:
        """Count the connection."""
        super().setup()
        with self.seen.lock:
            self.seen.connections += 1

    def do_GET(self) -> None:
        """Answer which models there are."""
        self.heads.append((self.path, self.headers.get("Authorization", "")))
        self.seen.described.append((self.path, self.headers["Host"]))
        self._say(type(self).about(self.path))

    def do_POST(self) -> None:
        """Say what the test wants."""
        seen = self.seen
        self.heads.append((self.path, self.headers.get("Authorization", "")))
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with seen.lock:
            number = len(seen.asked)
            seen.asked.append(body)
            seen.paths.append(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen.headers.append(headers)
            seen.under_way += 1
            seen.most = max(seen.most, seen.under_way)
        try:
            self._say(type(self).reply(body, number))
        finally:
            with seen.lock:
                seen.under_way -= 1

    def _say(self, said: Said) -> None:
        try:
            self._write(said)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _write(self, said: Said) -> None:
        self.send_response(said.status)
        for name, value in said.headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in said.pieces:
            if isinstance(piece, float):
                self.seen.over.wait(piece)
            elif piece:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if said.ends:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.seen.over.wait(30)
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def loopback(
    reply: Reply = EMPTY,
    heads: list[tuple[str, str]] | None = None,
    about: Callable[[str], Said] = _SMALL,
) -> Iterator[Loopback]:
    """Serve until the block ends.

    Args:
        reply: What is answered.
        heads: Is given the path and the authorisation of every request.
        about: Given a path that a server describes itself at, says the answer.
    """
    seen = Loopback()
    if not callable(reply):
        told = reply
        reply = lambda _body, number: told[min(number, len(told) - 1)]  # noqa: E731 (as one is given)
    members = {
        "seen": seen,
        "heads": [] if heads is None else heads,
        "reply": staticmethod(reply),
        "about": staticmethod(about),
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("_", (_Handler,), members))
    server.daemon_threads = True
    seen.base = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        seen.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def connection(
    provider: str = "",
    base: str = "http://h/v1",
    **more: Any,  # noqa: ANN401 (members of it)
) -> ServerConnection:
    """Return the connection to a provider's only model."""
    kind = providers()[provider]
    return ServerConnection(base=base, model="small", provider=kind, **more)


def text_request(
    name: str = "ferry", words: str = "a ferry", schema: str = SCHEMA, budget: int = 40
) -> GenerationRequest:
    """Return the request for one text."""
    return GenerationRequest(
        record=Record(id=name, group="made", schema=schema, dialect="2020-12"),
        messages=(Message(role="user", content=words),),
        budget=budget,
    )


def write_through(
    reply: Reply,
    way: str = "strict",
    requests: Sequence[GenerationRequest] = (text_request(),),
    provider: str = "",
    **limits: Any,  # noqa: ANN401 (members of the limits)
) -> tuple[list[Generation], list[dict[str, Any]]]:
    """Return what is made of a server's answers, and what it was asked."""
    with loopback(reply) as server:
        bounds = RequestLimits(**{"seconds": 5.0, "patience": 1.0, **limits})
        there = connection(provider, server.base, limits=bounds)
        (participant,) = server_participants(there, [way])
        participant = replace(participant, adapt=Adapt.NONE)
        # Time passes only while somebody sleeps.
        slept = [0.0]
        backoff = SharedBackoff(1.0, clock=lambda: sum(slept), sleep=slept.append)
        model = ServedModel(ServerClient(there, backoff))
        made = model.generate(requests, participant)
        model.close()
    return made, server.asked
