"""What can go wrong at a server, as functions that answer instead of it."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.server import BaseHTTPRequestHandler


@dataclass(slots=True)
class Trouble:
    """Something that happens to a few of the requests of a kind."""

    #: `*` is any.
    method: str
    #: Searched for in the path.
    pattern: re.Pattern[str]
    #: What the client gets instead; None lets the server answer.
    answer: Callable[[BaseHTTPRequestHandler], None] | None
    #: How many more requests it meets.
    times: int
    #: How many requests pass before it begins.
    skip: int = 0
    #: Whether the server does its work first.
    after: bool = False
    #: Called at the moment: somebody else commits, a process is killed.
    happens: Callable[[], object] | None = None
    met: int = field(default=0)


class Troubles:
    """All that is still ahead."""

    def __init__(self) -> None:
        """Start without any."""
        self._lock = threading.Lock()
        self._ahead: list[Trouble] = []

    def add(  # noqa: PLR0913 (each of them is a word about one trouble)
        self,
        method: str,
        pattern: str,
        answer: Callable[[BaseHTTPRequestHandler], None] | None = None,
        *,
        times: int = 1,
        skip: int = 0,
        after: bool = False,
        happens: Callable[[], object] | None = None,
    ) -> Trouble:
        """Let something happen to requests whose path matches."""
        made = Trouble(method, re.compile(pattern), answer, times, skip, after, happens)
        with self._lock:
            self._ahead.append(made)
        return made

    def meeting(self, method: str, path: str, *, after: bool) -> Trouble | None:
        """Return the trouble that this request meets, and count it."""
        with self._lock:
            for each in self._ahead:
                if (
                    each.after is not after
                    or each.method not in {method, "*"}
                    or each.times <= each.met
                    or not each.pattern.search(path)
                ):
                    continue
                if each.skip:
                    each.skip -= 1
                    continue
                each.met += 1
                return each
        return None


def status(
    code: int, message: str = "", error_code: str = "", **headers: str
) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer with a status and the Hub's own error headers."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        body = json.dumps({"error": message}).encode() if message else b""
        handler.send_response(code)
        given = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        given |= {"X-Error-Message": message} if message else {}
        given |= {"X-Error-Code": error_code} if error_code else {}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in given.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    return answer


def rate_limited(seconds: int) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer 429 as the Hub does, with the seconds until its window ends."""
    return status(
        429,
        "We had to rate limit you",
        RateLimit=f'"api";r=0;t={seconds}',
        RateLimit_Policy='"fixed window";"api";q=1000;w=300',
    )


def cut(handler: BaseHTTPRequestHandler) -> None:
    """Break the connection hard: a linger of zero seconds sends RST."""
    handler.close_connection = True
    handler.connection.setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )
    handler.connection.close()
