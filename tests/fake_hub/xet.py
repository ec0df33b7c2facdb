"""The Hub's storage as Xet: chunks in xorbs, files as shards that list them.

Formats are those of the Xet protocol specification, version 1.0.0
(huggingface.co/docs/xet): a xorb is a row of chunks, each behind a header of eight
bytes; a shard lists, of each file, the runs of chunks that it consists of.
"""

from __future__ import annotations

import hashlib
import struct
import time
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fake_hub.server import Handler
    from tests.fake_hub.store import Repository

#: Opens the storage for an hour, and nothing else.
TOKEN = "xet-access-token-of-the-fake-hub"
_ENTRY = 48
_LAST = b"\xff" * 32
_VERIFIED, _DESCRIBED = 1 << 31, 1 << 30
_PLAIN, _LZ4, _GROUPED = 0, 1, 2


def give_token(handler: Handler, repository: Repository, _rest: str) -> None:
    """Say where the storage is, and what opens it."""
    hub = handler.hub
    expires = int(time.time()) + 3600
    hub.xet_repository = repository.name
    handler.reply(
        200,
        {"casUrl": hub.storage, "exp": expires, "accessToken": TOKEN},
        {
            "X-Xet-Cas-Url": hub.storage,
            "X-Xet-Access-Token": TOKEN,
            "X-Xet-Token-Expiration": str(expires),
        },
    )


def answer(handler: Handler) -> None:
    """Answer a request of the Xet client at the storage's door."""
    store = handler.hub.store
    if handler.token != TOKEN:
        handler.refuse(401, "no token of the storage")
        return
    with store.lock:
        parts = handler.route.strip("/").split("/")
        if "xorbs" in parts and handler.command == "POST":
            store.xorbs[parts[-1]] = list(_chunks(handler.body))
            handler.reply(200, {"was_inserted": True})
        elif "shards" in parts and handler.command == "POST":
            repository = handler.hub.repository(handler.hub.xet_repository)
            for digest, content in _files(handler.body, store.xorbs):
                if hashlib.sha256(content).hexdigest() == digest:
                    repository.large[digest] = content
                else:
                    handler.refuse(400, "the digest of a file is another")
                    return
            # The second version of the route answers line by line.
            word = b'{"type": "result", "result": 1}\n'
            handler.reply(200, content=word)
        else:
            handler.refuse(404, "not known")


def _chunks(xorb: bytes) -> Iterator[bytes]:
    """Yield the chunks of a xorb; what follows them is not of this format."""
    start = 0
    while start + 8 <= len(xorb) and xorb[start] == 0:
        packed = int.from_bytes(xorb[start + 1 : start + 4], "little")
        kind = xorb[start + 4]
        size = int.from_bytes(xorb[start + 5 : start + 8], "little")
        yield _unpacked(xorb[start + 8 : start + 8 + packed], kind, size)
        start += 8 + packed


def _unpacked(content: bytes, kind: int, size: int) -> bytes:
    if kind == _PLAIN:
        return content
    plain: bytes = pa.Codec("lz4").decompress(content, size, asbytes=True)
    if kind == _LZ4:
        return plain
    assert kind == _GROUPED
    # Every fourth byte stands together.
    groups, start = [], 0
    for first in range(4):
        length = (size - first + 3) // 4
        groups.append(plain[start : start + length])
        start += length
    return bytes(groups[index % 4][index // 4] for index in range(size))


def _hash(content: bytes) -> str:
    """Return a hash as Xet writes it: four little-endian words of 64 bits."""
    return "".join(f"{word:016x}" for word in struct.unpack("<4Q", content))


def _files(shard: bytes, xorbs: dict[str, list[bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield digest and content of each file of a shard."""
    start = _ENTRY
    while shard[start : start + 32] != _LAST:
        flags, count = struct.unpack_from("<II", shard, start + 32)
        start += _ENTRY
        content = b""
        for _ in range(count):
            name = _hash(shard[start : start + 32])
            first, end = struct.unpack_from("<II", shard, start + 40)
            content += b"".join(xorbs[name][first:end])
            start += _ENTRY
        if flags & _VERIFIED:
            start += _ENTRY * count
        assert flags & _DESCRIBED, "the Hub asks for the digest of every file"
        yield _hash(shard[start : start + 32]), content
        start += _ENTRY
