"""The server: two doors on loopback, the Hub's and its file storage's.

They have different origins, as on the real Hub, so that a token which follows a
redirect into the storage would be seen there.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

from tests.fake_hub.routes import answer_hub
from tests.fake_hub.storage import answer_storage
from tests.fake_hub.store import Store
from tests.fake_hub.troubles import Troubles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.fake_hub.store import Repository


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, as it arrived."""

    door: str
    method: str
    path: str
    #: Whether it carried an Authorization header.
    authorized: bool


class Handler(BaseHTTPRequestHandler):
    """Reads one request whole, lets troubles happen, hands it on."""

    protocol_version = "HTTP/1.1"
    # Head and body in one packet: else each answer waits for an acknowledgement.
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Door
    body: bytes = b""

    @property
    def hub(self) -> FakeHub:
        """The Hub that this door belongs to."""
        return self.server.hub

    @property
    def route(self) -> str:
        """The path alone, still quoted."""
        return urlsplit(self.path).path

    @property
    def query(self) -> dict[str, str]:
        """The query, the last value of each name."""
        return {name: each[-1] for name, each in self._query().items()}

    def _query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.path).query)

    @property
    def token(self) -> str:
        """The bearer's token, if any."""
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    def json(self) -> Any:  # noqa: ANN401 (whatever a client sends)
        """Read the body as JSON."""
        return json.loads(self.body or b"{}")

    def reply(
        self,
        code: int,
        value: object = None,
        headers: Mapping[str, str] | None = None,
        *,
        content: bytes | None = None,
        length: int | None = None,
    ) -> None:
        """Answer with JSON, or with content as it is."""
        body = json.dumps(value).encode() if content is None else content
        given = {
            "Content-Type": "application/json"
            if content is None
            else "application/octet-stream",
            "Content-Length": str(len(body) if length is None else length),
            **(headers or {}),
        }
        self.send_response(code)
        for name, each in given.items():
            self.send_header(name, each)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, code: int, message: str, error_code: str = "") -> None:
        """Answer with the Hub's way of saying no."""
        headers = {"X-Error-Message": message}
        if error_code:
            headers["X-Error-Code"] = error_code
        self.reply(code, {"error": message}, headers)

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline().strip() or b"0", 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _handle(self) -> None:
        hub, method = self.hub, self.command
        self.body = self._read()
        path = unquote(self.path)
        hub.seen_tokens[self.server.name].add(self.token)
        hub.asked.append(
            Asked(self.server.name, method, path, "Authorization" in self.headers)
        )
        trouble = hub.troubles.meeting(method, path, after=False)
        if trouble and trouble.happens:
            trouble.happens()
        if trouble and trouble.answer:
            trouble.answer(self)
            return
        trouble = hub.troubles.meeting(method, path, after=True)
        if trouble is None:
            self.server.answer(self)
            return
        self._spoiled(trouble.answer, trouble.happens)

    def _spoiled(
        self,
        answer: Callable[[BaseHTTPRequestHandler], None] | None,
        happens: Callable[[], object] | None,
    ) -> None:
        """Do the work, and let what happens come between it and the answer."""
        wire, self.wfile = self.wfile, cast("Any", _Held())
        try:
            self.server.answer(self)
            held = cast("_Held", self.wfile)
        finally:
            self.wfile = wire
        if happens:
            happens()
        if answer:
            answer(self)
        else:
            self.wfile.write(held.content)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815 (http.server asks for these)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Held:
    """An answer that is not on its way yet."""

    closed = False

    def __init__(self) -> None:
        self.content = b""

    def write(self, content: bytes) -> int:
        self.content += content
        return len(content)

    def flush(self) -> None:
        """Do nothing: there is no wire."""


class Door(ThreadingHTTPServer):
    """One origin."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self, hub: FakeHub, name: str, answer: Callable[[Handler], None], port: int = 0
    ) -> None:
        """Listen on a port of 127.0.0.1; any free one, if none is named."""
        super().__init__(("127.0.0.1", port), Handler)
        self.hub = hub
        self.name = name
        self.answer = answer

    @property
    def base(self) -> str:
        """The address; a host of its own for each, as clients tell them apart by it."""
        host = "127.0.0.1" if self.name == "hub" else "localhost"
        return f"http://{host}:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that hang up."""


class FakeHub:
    """Both doors, what is behind them, and what was asked."""

    #: In every signed address, as in the real ones: it opens a file to anyone.
    signature = "5ecret5ignature0f4n4ddress0nly"

    def __init__(self, port: int = 0) -> None:
        """Listen, but answer only from `fake_hub` on."""
        self.store = Store()
        self.troubles = Troubles()
        self.asked: list[Asked] = []
        #: The tokens that came to each door.
        self.seen_tokens: dict[str, set[str]] = {"hub": set(), "storage": set()}
        #: The dataset for which the client was last given a token of the storage.
        self.xet_repository = ""
        #: Entries on one page of a listing; the real Hub's 1000.
        self.page = 1000
        self._hub = Door(self, "hub", answer_hub, port)
        self._storage = Door(self, "storage", answer_storage)

    @property
    def endpoint(self) -> str:
        """What `HF_ENDPOINT` has to be."""
        return self._hub.base

    @property
    def storage(self) -> str:
        """Where large files are."""
        return self._storage.base

    @property
    def doors(self) -> tuple[Door, Door]:
        """The two servers."""
        return self._hub, self._storage

    def allow(self, token: str, scope: str = "write") -> str:
        """Let a token in, to `write` or only to `read`; returns it."""
        self.store.tokens[token] = scope
        return token

    def repository(self, name: str) -> Repository:
        """Return a repository.

        Raises:
            KeyError: there is none of that name.
        """
        return self.store.repositories[name]

    def count(self, method: str, part: str) -> int:
        """Return how many requests of a method had this in their path."""
        return sum(each.method == method and part in each.path for each in self.asked)


@contextmanager
def fake_hub(port: int = 0) -> Iterator[FakeHub]:
    """Run a Hub for a while."""
    hub = FakeHub(port)
    for door in hub.doors:
        threading.Thread(target=door.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield hub
    finally:
        for door in hub.doors:
            door.shutdown()
            door.server_close()
