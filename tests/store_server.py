"""An S3 server on loopback (moto's), with faults between it and who asks."""

from __future__ import annotations

import re
import threading
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    create_backend_app,
)
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: What a server says, as S3 documents its errors.
_ERROR = '<?xml version="1.0"?><Error><Code>{}</Code><Message>{}</Message></Error>'
_CONTENTS = re.compile(rb"<Contents>.*?</Contents>", re.DOTALL)


class _Silent(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002, ANN401 - werkzeug's own
        """Print nothing."""


class FaultyStore:
    """A WSGI application: moto's S3 behind what goes wrong on the way."""

    def __init__(self) -> None:
        """Begin with an empty store and no faults."""
        self._store = DomainDispatcherApplication(create_backend_app)
        self.url = ""
        #: How many requests are answered by an error, and by which.
        self.refusals = 0
        self.refusal = (503, "SlowDown", "Please reduce your request rate.")
        #: Which requests are refused, by method and path.
        self.refused: Callable[[str, str], bool] = lambda _method, _path: True
        #: Seconds that each put takes.
        self.put_seconds = 0.0
        #: How many puts are done, and answered by an error all the same.
        self.lost_answers = 0
        #: Parts of names that lists leave out.
        self.unlisted: tuple[bytes, ...] = ()
        #: Method and path of every request.
        self.asked: list[tuple[str, str]] = []

    def __call__(
        self, environ: dict[str, Any], start: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.asked.append((method, path))
        if self.refusals and self.refused(method, path):
            self.refusals -= 1
            return _error(*self.refusal)(environ, start)
        if method == "PUT":
            time.sleep(self.put_seconds)
            if self.lost_answers and "units-" in path:
                self.lost_answers -= 1
                list(self._store(environ, lambda *_answer: None))
                return _error(500, "InternalError", "lost")(environ, start)
        if method == "GET" and "list-type" in environ["QUERY_STRING"]:
            return self._listed(environ, start)
        answer: Iterable[bytes] = self._store(environ, start)
        return answer

    def _listed(
        self, environ: dict[str, Any], start: Callable[..., Any]
    ) -> Iterable[bytes]:
        response = Response.from_app(self._store, environ)

        def kept(found: re.Match[bytes]) -> bytes:
            return b"" if any(name in found[0] for name in self.unlisted) else found[0]

        response.set_data(_CONTENTS.sub(kept, response.get_data()))
        return response(environ, start)


def _error(status: int, code: str, message: str) -> Response:
    return Response(
        _ERROR.format(code, message), status, content_type="application/xml"
    )


@contextmanager
def serving() -> Iterator[FaultyStore]:
    """Serve one for the length of a block."""
    store = FaultyStore()
    server = make_server("127.0.0.1", 0, store, threaded=True, request_handler=_Silent)
    store.url = f"http://127.0.0.1:{server.port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    # What moto holds belongs to the process, not to a server.
    reset = urllib.request.Request(f"{store.url}/moto-api/reset", method="POST")  # noqa: S310 - our own, on loopback
    urllib.request.urlopen(reset).close()  # noqa: S310 - the same
    try:
        yield store
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
