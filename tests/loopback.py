"""A server on loopback whose every answer is a function of the test."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Handler(BaseHTTPRequestHandler):
    """Gives the next answer of its server."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """Answer, and note what was asked."""
        self.server.asked.append(self.path)
        self.server.headers.append(dict(self.headers))
        self.server.next_answer(self.path)(self)

    def end_headers(self) -> None:
        """Say that the connection ends, so that no client asks again on it."""
        self.send_header("Connection", "close")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Answers in turn for each path; the last one of a path is given for ever."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        """Listen on any free port of 127.0.0.1."""
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._answers: dict[str, list[Callable[[Handler], None]]] = {}

    @property
    def base(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.server_port}"

    def on(self, path: str, *answers: Callable[[Handler], None]) -> str:
        """Give these answers for a path; return its address."""
        self._answers[path] = list(answers)
        return self.base + path

    def next_answer(self, path: str) -> Callable[[Handler], None]:
        """Return what comes next for a path."""
        answers = self._answers.get(path, [status(404)])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that hang up."""


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server for a while."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def body(content: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer 200 with a body; `_` in a header's name stands for `-`."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        given = {"Content-Length": str(len(content))}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in given.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def status(code: int, **headers: str) -> Callable[[Handler], None]:
    """Answer with a status, headers and no body."""

    def answer(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer
