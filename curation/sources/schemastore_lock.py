"""The lock of SchemaStore's entries that are hosted elsewhere.

One JSON object: the commit of the catalogue, the digest over all contents, one
entry for each schema (`url`, `unique_id`, `sha256`, `bytes`), and what failed.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from curation.download.cache import Cache
from curation.download.packs import digest_of, open_pack, write_pack
from curation.sources.schemastore import live_path
from curation.system.atomic_files import atomic_write_bytes, sweep
from curation.system.errors import BadConfiguration, NoInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.download.acquire import Acquired, FetchSettings
    from curation.download.packs import Pack

_FORMAT: Final = "csbdata live lock 1"
_FETCH: Final = "csbdata fetch schemastore --live"


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """One address and the content that it had."""

    url: str
    unique_id: str
    sha256: str
    #: Length of the content.
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One address that gave nothing, and why."""

    url: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """What a build takes beside SchemaStore's own files."""

    #: Of the catalogue that lists the addresses.
    commit: str
    #: Over all contents, by their path in the pack
    #: (`curation.download.packs.digest_of`).
    digest: str
    #: Sorted by address.
    schemas: tuple[Locked, ...]
    failures: tuple[Failure, ...]


def default_lock(cache: Path) -> Path:
    """Return where the lock is: `CSBDATA_LIVE_LOCK`, else in the cache."""
    named = os.environ.get("CSBDATA_LIVE_LOCK")
    return Path(named) if named else cache / "schemastore.lock.json"


def digest_over(schemas: tuple[Locked, ...]) -> str:
    """Return the digest that a lock's contents have together."""
    return digest_of((live_path(each.url), each.sha256) for each in schemas)


def read_lock(path: Path, commit: str) -> Lock | None:
    """Return the lock, or None if there is none.

    Raises `BadConfiguration` if it is no lock, or one of another commit.
    """
    try:
        lock = _lock(orjson.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NoInput("cannot be read", str(path)) from error
    except (ValueError, KeyError, TypeError) as error:
        then = f"delete it and run `{_FETCH}`"
        raise BadConfiguration("not a lock of csbdata", str(path), then) from error
    if lock.commit != commit:
        what = f"locks the catalogue of {lock.commit}, not of {commit}"
        raise BadConfiguration(what, str(path), f"delete it and run `{_FETCH}`")
    return lock


def write_lock(path: Path, lock: Lock) -> None:
    """Write the lock so that a reader sees the old one or the new one."""
    content = {"format": _FORMAT, "archive": "schemastore", **asdict(lock)}
    sweep(path.parent, path.name)
    atomic_write_bytes(path, orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")


def with_live(got: Acquired, settings: FetchSettings, path: Path) -> Acquired:
    """Return SchemaStore's archive with the locked schemas beside its own files.

    They stand at `curation.sources.schemastore.live_path` of their address. If
    there is no lock, the archive is returned as it is. Raises `NoInput` if the
    cache lacks what is locked, `BadConfiguration` if the lock is of another
    commit.
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
    sums = [(each, pack.sha256(each)) for pack in packs for each in pack.paths]
    digest = digest_of(sums)
    pack = cache.pack(digest)
    if pack is None:
        with cache.lock("schemastore-with-live", lambda _message: None):
            pack = write_pack(cache.packs, "schemastore-with-live", _contents(packs))
    return replace(got, pack=pack, digest=digest)


def _contents(packs: tuple[Pack, ...]) -> Iterator[tuple[str, bytes]]:
    return ((path, pack.read(path)) for pack in packs for path in pack.paths)


def _lock(content: dict[str, object]) -> Lock:
    if content["format"] != _FORMAT:
        raise ValueError(content["format"])
    schemas, failures = content["schemas"], content["failures"]
    if not isinstance(schemas, list) or not isinstance(failures, list):
        raise TypeError(content)
    lock = Lock(
        commit=str(content["commit"]),
        digest=str(content["digest"]),
        schemas=tuple(Locked(**each) for each in schemas),
        failures=tuple(Failure(**each) for each in failures),
    )
    if digest_over(lock.schemas) != lock.digest:
        raise ValueError(lock.digest)
    return lock
