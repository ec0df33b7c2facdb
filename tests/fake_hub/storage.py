"""Large file storage: signed addresses, one PUT each, and reading."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from tests.fake_hub import xet

if TYPE_CHECKING:
    from tests.fake_hub.server import FakeHub, Handler
    from tests.fake_hub.store import Repository


def signed(hub: FakeHub, path: str) -> str:
    """Return an address in the storage that anyone may use who knows it."""
    return (
        f"{hub.storage}{path}?X-Amz-Credential=AKIAFAKE&X-Amz-Signature={hub.signature}"
    )


def batch(handler: Handler, repository: Repository, _rest: str) -> None:
    """Answer where to put each object; nothing for those that are there."""
    objects = [
        _object(handler.hub, repository, each) for each in handler.json()["objects"]
    ]
    handler.reply(200, {"transfer": "basic", "objects": objects})


def _object(
    hub: FakeHub, repository: Repository, wanted: dict[str, Any]
) -> dict[str, Any]:
    oid, size = wanted["oid"], wanted["size"]
    if oid in repository.large:
        return {"oid": oid, "size": size}
    place = f"/{repository.name}/{oid}"
    upload = {"href": signed(hub, place)}
    verify = {"href": f"{hub.endpoint}/verify{place}"}
    return {"oid": oid, "size": size, "actions": {"upload": upload, "verify": verify}}


def verify(handler: Handler, repository: Repository, oid: str) -> None:
    """Say whether an object has arrived."""
    asked = handler.json()
    held = repository.large.get(oid)
    if held is None or len(held) != asked["size"]:
        handler.refuse(404, "Object does not exist")
    else:
        handler.reply(200, {})


def _keep(handler: Handler, repository: Repository, oid: str, content: bytes) -> None:
    if hashlib.sha256(content).hexdigest() != oid:
        handler.refuse(400, "The digest of the content is another")
        return
    repository.large[oid] = content
    handler.reply(200, {}, {"ETag": f'"{oid[:16]}"'})


def answer_storage(handler: Handler) -> None:
    """Answer a request at the storage's own door."""
    if handler.route.startswith(("/v1/", "/v2/")):
        xet.answer(handler)
        return
    if handler.query.get("X-Amz-Signature") != handler.hub.signature:
        handler.refuse(403, "SignatureDoesNotMatch")
        return
    owner, name, oid = handler.route.strip("/").split("/")
    repository = handler.hub.repository(f"{owner}/{name}")
    with handler.hub.store.lock:
        if handler.command == "PUT":
            _keep(handler, repository, oid, handler.body)
        else:
            _read(handler, repository, oid)


def _read(handler: Handler, repository: Repository, oid: str) -> None:
    content = repository.large.get(oid)
    if content is None:
        handler.refuse(404, "NoSuchKey")
        return
    first = handler.headers.get("Range", "").removeprefix("bytes=").removesuffix("-")
    if first.isdigit():
        size = len(content)
        span = {"Content-Range": f"bytes {first}-{size - 1}/{size}"}
        handler.reply(206, None, span, content=content[int(first) :])
    else:
        handler.reply(200, content=content, headers={"ETag": f'"{oid}"'})
