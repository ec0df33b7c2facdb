"""A proxy on loopback that spoils the first answers of a real server, then behaves."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import requests

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def flaky_proxy(upstream: str, spoils: list[str]) -> Iterator[str]:
    """Serve `upstream`; each POST takes one of the spoils, until there are none.

    A spoil is a status, or `cut`: the first half of the stream, then nothing.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass(requests.get(upstream + self.path, timeout=60))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            spoil = spoils.pop(0) if spoils else ""
            if spoil.isdecimal():
                self.send_response(int(spoil))
                self.end_headers()
                self.wfile.write(b"spoilt")
                return
            kind = {"Content-Type": "application/json"}
            answer = requests.post(
                upstream + self.path, data=body, headers=kind, timeout=120
            )
            content = answer.content
            self._pass(answer, content[: len(content) // 2] if spoil else content)

        def _pass(
            self, answer: requests.Response, content: bytes | None = None
        ) -> None:
            self.send_response(answer.status_code)
            self.end_headers()
            self.wfile.write(answer.content if content is None else content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
