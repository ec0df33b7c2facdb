"""The lock of SchemaStore's entries that are hosted elsewhere.

One JSON object: the commit of the catalogue, the digest over all contents, one
entry for each schema (`url`, `unique_id`, `sha256`, `bytes`), and what failed.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

import msgspec
import orjson

from curation.download.cache import Cache
from curation.download.packs import digest_of, open_pack, write_pack
from curation.system.atomic_files import atomic_write_bytes, sweep
from curation.system.errors import BadConfiguration, NoInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curation.download.acquire import Acquired, FetchSettings
    from curation.download.packs import Pack

#: The folder of a pack in which live copies stand.
LIVE: Final = "live/"
_FETCH: Final = "csbdata sources --fetch --live schemastore"


class LockedSchema(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """One address and the content that it had."""

    url: str
    unique_id: str
    sha256: str
    #: Length of the content.
    bytes: int


class FailedAddress(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """One address that gave nothing, and why."""

    url: str
    why: str


class LiveLock(msgspec.Struct, frozen=True, kw_only=True):
    """What a build takes beside SchemaStore's own files; the file's own order."""

    format: Literal["csbdata live lock 1"] = "csbdata live lock 1"
    #: The archive whose catalogue lists the addresses.
    archive: str = "schemastore"
    #: Of the catalogue that lists the addresses.
    commit: str
    #: Over all contents, by their path in the pack
    #: (`curation.download.packs.digest_of`).
    digest: str
    #: Sorted by address.
    schemas: tuple[LockedSchema, ...]
    failures: tuple[FailedAddress, ...]


def live_path(url: str) -> str:
    """Return the path under which the live copy of a URL stands in a pack."""
    return LIVE + hashlib.sha256(url.encode()).hexdigest()


def default_lock(settings: FetchSettings) -> Path:
    """Return where the lock is: as the settings say, else in the cache."""
    return settings.live_lock or settings.cache / "schemastore.lock.json"


def digest_over(schemas: tuple[LockedSchema, ...]) -> str:
    """Return the digest that a lock's contents have together."""
    return digest_of((live_path(schema.url), schema.sha256) for schema in schemas)


def read_lock(path: Path, commit: str) -> LiveLock | None:
    """Return the lock, or None if there is none.

    Args:
        path: The lock file.
        commit: The commit of the catalogue that the lock must be of.

    Raises:
        NoInput: the file cannot be read (exit 66).
        BadConfiguration: it is no lock, or one of another commit (exit 78).
    """
    try:
        lock = _decoded(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NoInput("cannot be read", str(path)) from error
    except ValueError as error:
        then = f"delete it and run `{_FETCH}`"
        raise BadConfiguration("not a lock of csbdata", str(path), then) from error
    if lock.commit != commit:
        what = f"locks the catalogue of {lock.commit}, not of {commit}"
        raise BadConfiguration(what, str(path), f"delete it and run `{_FETCH}`")
    return lock


def write_lock(path: Path, lock: LiveLock) -> None:
    """Write the lock so that a reader sees the old one or the new one."""
    content = msgspec.to_builtins(lock)
    sweep(path.parent, path.name)
    atomic_write_bytes(path, orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")


def with_live(got: Acquired, settings: FetchSettings, path: Path) -> Acquired:
    """Return SchemaStore's archive with the locked schemas beside its own files.

    They stand at `live_path` of their address. Without a lock, the archive is
    returned as it is.

    Raises:
        NoInput: the cache lacks what is locked (exit 66).
        BadConfiguration: the lock is of another commit (exit 78).
    """
    lock = read_lock(path, got.commit)
    if lock is None or not lock.schemas:
        return got
    cache = Cache(settings.cache)
    live = cache.pack(lock.digest)
    if live is None:
        what = "the cache lacks the schemas of this lock"
        raise NoInput(what, str(path), f"run `{_FETCH}`")
    packs = (open_pack(got.pack), open_pack(live))
    sums = [(path, pack.sha256(path)) for pack in packs for path in pack.paths]
    digest = digest_of(sums)
    pack = cache.pack(digest)
    if pack is None:
        with cache.lock("schemastore-with-live", lambda _message: None):
            pack = write_pack(cache.packs, "schemastore-with-live", _contents(packs))
    return replace(got, pack=pack, digest=digest)


def still_missing(lock: LiveLock | None, lacks: str | None) -> str | None:
    """Return what is missing with this lock, given what is missing without one."""
    if lock is None or not lock.schemas:
        return lacks
    if not lock.failures:
        return None
    return (
        f"{len(lock.failures)} of {len(lock.schemas) + len(lock.failures)} addresses "
        f"outside the archive gave nothing; `{_FETCH}` tries them again"
    )


def _contents(packs: tuple[Pack, ...]) -> Iterator[tuple[str, bytes]]:
    return ((path, pack.read(path)) for pack in packs for path in pack.paths)


def _decoded(content: bytes) -> LiveLock:
    """Return the lock of a file.

    Raises:
        ValueError: it is none, or its digest is not that of its contents.
    """
    lock = msgspec.json.decode(content, type=LiveLock)
    if digest_over(lock.schemas) != lock.digest:
        raise ValueError(lock.digest)
    return lock
