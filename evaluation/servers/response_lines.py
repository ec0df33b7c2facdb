"""The body of a response as it comes: its lines, within bounds of time and size."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import requests
from urllib3.exceptions import HTTPError

from evaluation.servers.event_stream import BrokenStream

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Most bytes of one answer; the longest text that a model here may write has less.
_MOST_BYTES: Final = 32 * 2**20
#: Bytes of an error's text that are read, and seconds that this may take.
_ERROR_BYTES: Final = 2**16
_ERROR_SECONDS: Final = 5.0
#: What may follow the end of an answer on a connection that is kept.
_REST_BYTES: Final = 2**16
_REST_SECONDS: Final = 0.5


class TooLate(Exception):  # noqa: N818 (it says what it is)
    """The deadline passed before the response had ended."""


def response_pieces(response: requests.Response, limit: float) -> Iterator[bytes]:
    """Yield a response as it comes; a server may send for ever, with no line's end.

    Args:
        response: A response whose content has not been read.
        limit: The moment at which it must have ended, by `time.monotonic`.

    Raises:
        TooLate: it has lasted too long.
        BrokenStream: it is too large.
    """
    size = 0
    while piece := _next_piece(response, limit):
        size += len(piece)
        if size > _MOST_BYTES:
            raise BrokenStream(f"an answer of over {_MOST_BYTES:,} bytes")
        yield piece


def _next_piece(response: requests.Response, limit: float) -> bytes:
    left = limit - time.monotonic()
    if left <= 0:
        raise TooLate
    connection = response.raw.connection
    if connection is not None and connection.sock is not None:
        connection.sock.settimeout(left)
    return bytes(response.raw.read1(2**16, decode_content=True))


def response_lines(response: requests.Response, limit: float) -> Iterator[bytes]:
    """Yield the lines of a response as they come, without their ends.

    See `response_pieces` for its arguments and what it raises.
    """
    begun: list[bytes] = []
    for piece in response_pieces(response, limit):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            yield b"".join([*begun, end])
            begun = []
        begun.append(rest)
    yield b"".join(begun)


def beginning(response: requests.Response) -> bytes:
    """Return how the body of an error begins, as much of it as comes in time."""
    found = b""
    limit = time.monotonic() + _ERROR_SECONDS
    with suppress(TooLate, HTTPError, requests.RequestException):
        while len(found) < _ERROR_BYTES and (piece := _next_piece(response, limit)):
            found += piece
    return found[:_ERROR_BYTES]


def drain(response: requests.Response) -> None:
    """Read what follows an answer, so that its connection can be used again.

    A server that goes on sending, or says nothing and does not end, loses it.
    """
    limit = time.monotonic() + _REST_SECONDS
    left = _REST_BYTES
    with suppress(TooLate, HTTPError, requests.RequestException):
        while left > 0 and (piece := _next_piece(response, limit)):
            left -= len(piece)
