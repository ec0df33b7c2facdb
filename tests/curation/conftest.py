"""What tests of curation share: a server that nobody may ask, a comparing child."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.relation.comparer import Comparer


@pytest.fixture
def trap() -> Iterator[tuple[str, list[str]]]:
    """Serve on loopback; collect the path of every request."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", seen
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def comparer() -> Iterator[Comparer]:
    """Return one child for all comparisons."""
    from curation.relation.comparer import Comparer  # noqa: PLC0415 (slow)

    with Comparer() as comparer:
        yield comparer
