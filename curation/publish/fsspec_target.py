"""Write a dataset to a folder on this machine, or to a URL where fsspec can write.

A folder on this machine appears whole in one step, as a build does. At a URL the
manifest is written last: an interrupted push leaves the old one, by which the same
command knows what to delete and goes on.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

import fsspec
from fsspec.implementations.local import LocalFileSystem

from curation.download.acquire import FetchSettings
from curation.packaging.manifest import FILE as MANIFEST
from curation.publish.plan import (
    LocalFile,
    PushPlan,
    RemoteFile,
    describe_content,
    files_listed,
    files_to_send,
    plan_for,
)
from curation.system.atomic_folders import atomic_folder
from curation.system.checksums import FILE as SUMS
from curation.system.credentials import redacted, split_url
from curation.system.errors import (
    BadConfiguration,
    BadData,
    CannotCreate,
    CsbdataError,
    NoInput,
    NotPermitted,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.system.extras import install_extra
from curation.system.locks import locked
from curation.system.words import counted

#: What is written after everything it speaks of, in this order.
_LAST = (SUMS, "README.md", MANIFEST)


#: What stores say when there is no room: `s3fs` has one number for all of these.
_FULL: Final = ("storagefull", "quotaexceeded", "insufficientstorage", "no space left")
#: Numbers of temporary trouble: `s3fs` gives them to 500, 502, 503 and slow-down.
_TEMPORARY: Final = frozenset(
    {
        *(errno.EBUSY, errno.EAGAIN, errno.EIO, errno.ETIMEDOUT, errno.EPIPE),
        *(errno.ECONNRESET, errno.ECONNABORTED, errno.ECONNREFUSED),
        # "Remote I/O error"; there is none on macOS.
        getattr(errno, "EREMOTEIO", errno.EIO),
    }
)


@contextmanager
def _file_system_errors(where: str) -> Iterator[None]:
    """Raise the exceptions of any file system as ours.

    Args:
        where: The folder or URL; a message names it without credentials.
    """
    try:
        yield
    except CsbdataError:
        raise
    except Exception as error:  # noqa: BLE001 (each file system has types of its own)
        # A library's own traceback may repeat the URL.
        cause = None if any(split_url(where).secrets) else error
        raise fault_of(error, where) from cause


def fault_of(error: Exception, where: str) -> CsbdataError:
    """Return a file system's exception as one of ours.

    Args:
        error: The exception; each file system has types of its own.
        where: The folder or URL.
    """
    text = str(error) or type(error).__name__
    kind: type[CsbdataError] = Unavailable
    then = "the same command later goes on"
    if _is_full(error):
        kind, then = CannotCreate, "make room there; the same command goes on"
    elif isinstance(error, ImportError):
        then = install_extra("s3") if where.startswith(("s3:", "s3a:")) else ""
    elif isinstance(error, ValueError):
        kind, then = BadConfiguration, ""
    elif isinstance(error, PermissionError):
        kind, then = NotPermitted, ""
    elif isinstance(error, FileNotFoundError):
        kind, then = NoInput, ""
    elif isinstance(error, (TimeoutError, ConnectionError)) or (
        isinstance(error, OSError) and error.errno in _TEMPORARY
    ):
        kind, then = TemporarilyUnavailable, "the same command goes on"
    elif isinstance(error, OSError):
        kind, then = CannotCreate, "choose another place"
    else:
        text = f"{type(error).__name__}: {error}"
    address = split_url(where)
    return kind(address.hide(redacted(text)), redacted(address.clean), then)


def _is_full(error: Exception) -> bool:
    """Return whether a file system has no room."""
    text = f"{error} {error.__cause__ or ''}".lower().replace(" ", "")
    number = getattr(error, "errno", None)
    return number in {errno.ENOSPC, errno.EDQUOT} or any(
        word.replace(" ", "") in text for word in _FULL
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FsspecTarget:
    """A folder, here or behind a URL."""

    #: As the user named it, without credentials.
    label: str
    #: The path, of a folder on this machine.
    local: Path | None
    files: Any
    root: str
    #: As the user named it.
    url: str = field(repr=False)

    def path(self, name: str) -> str:
        """Return the full path of a file."""
        return f"{self.root}/{name}"


def open_target(url: str) -> FsspecTarget:
    """Open the folder at a path or URL.

    Raises:
        BadConfiguration: fsspec does not know it, or a package for it is missing.
        CsbdataError: it cannot be reached.
    """
    address = split_url(url)
    with _file_system_errors(url):
        if url.startswith(("s3://", "s3a://")) and address.user:
            files, root = fsspec.core.url_to_fs(
                address.clean, key=address.user, secret=address.password
            )
        else:
            files, root = fsspec.core.url_to_fs(url)
    local = Path(root) if isinstance(files, LocalFileSystem) else None
    return FsspecTarget(
        label=redacted(address.clean),
        local=local,
        files=files,
        root=str(root).rstrip("/"),
        url=url,
    )


def plan_write(target: FsspecTarget, files: Mapping[str, LocalFile]) -> PushPlan:
    """Return the plan of writing the files there; nothing is changed.

    Raises:
        CsbdataError: the place cannot be read.
    """
    with _file_system_errors(target.url):
        remote = {
            name: _remote(_read(target, name)) if name in files else RemoteFile()
            for name in _names(target)
        }
        manifest = _read(target, MANIFEST) if MANIFEST in remote else b""
    return plan_for(files, remote, files_listed(manifest))


def _remote(content: bytes) -> RemoteFile:
    return RemoteFile(sha256=hashlib.sha256(content).hexdigest())


def _names(target: FsspecTarget) -> list[str]:
    if not target.files.exists(target.root):
        return []
    prefix = f"{target.root}/"
    names = (
        path.removeprefix(prefix)
        for path in map(str, target.files.find(target.root))
        if path.startswith(prefix)
    )
    # Keys of an object store may look like paths that lead elsewhere.
    return sorted(name for name in names if ".." not in name.split("/"))


def _read(target: FsspecTarget, name: str) -> bytes:
    content = target.files.cat_file(target.path(name))
    return content if isinstance(content, bytes) else bytes(content)


def write_to_target(
    folder: Path, files: Mapping[str, LocalFile], target: FsspecTarget, plan: PushPlan
) -> None:
    """Write the files there, unless all are there already, then read them back.

    Raises:
        BadData: a file changed since it was verified, or came back otherwise.
        TemporarilyUnavailable: another process is writing there (exit 75).
        CannotCreate: the place cannot be written, or holds what is not ours.
        CsbdataError: the place cannot be reached.
    """
    if target.local is not None and not plan.nothing:
        _write_folder(folder, files, target.local, plan)
    elif not plan.nothing:
        with _file_system_errors(target.url):
            _write_files(folder, files, target, plan)
    with _file_system_errors(target.url):
        remote = {
            name: _remote(_read(target, name))
            for name in _names(target)
            if name in files
        }
    wrong = files_to_send(files, remote)
    if wrong:
        raise BadData(
            f"not there as written: {counted(len(wrong), 'file')} ({wrong[0]})",
            target.label,
            "write them again",
        )


def _verified(folder: Path, name: str, file: LocalFile) -> bytes:
    content = (folder / name).read_bytes()
    if describe_content(content) != file:
        raise BadData("changed since it was verified", name, "push it again")
    return content


def _write_folder(
    folder: Path, files: Mapping[str, LocalFile], target: Path, plan: PushPlan
) -> None:
    with _alone(target), atomic_folder(target) as fresh:
        for name, file in files.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(_verified(folder, name, file))
        if target.exists():
            ours = {*files, *plan.deleted}
            # All else is copied with its modes and links, empty folders too.
            ours |= _folders_of(ours) - _folders_of(plan.left_alone)
            shutil.copytree(
                *(target, fresh),
                symlinks=True,
                dirs_exist_ok=True,
                ignore=lambda inside, names: {
                    name
                    for name in names
                    if Path(inside, name).relative_to(target).as_posix() in ours
                },
            )


def _folders_of(names: Iterable[str]) -> set[str]:
    return {str(folder) for name in names for folder in PurePosixPath(name).parents}


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Keep other pushes to the same folder out.

    The lock is in the user's cache, so that none stays beside the folder.
    """
    locks = FetchSettings.from_environment().cache / "push"
    name = hashlib.sha256(str(target.resolve()).encode()).hexdigest()[:32]
    busy = TemporarilyUnavailable(
        "another push is at work here", str(target), "wait for its end"
    )
    with locked(locks / name, busy):
        yield


def _write_files(
    folder: Path, files: Mapping[str, LocalFile], target: FsspecTarget, plan: PushPlan
) -> None:
    order = [*(name for name in plan.written if name not in _LAST), *plan.deleted]
    order += [name for name in _LAST if name in plan.written]
    for name in order:
        path = target.path(name)
        if name in files:
            target.files.makedirs(path.rpartition("/")[0], exist_ok=True)
            target.files.pipe_file(path, _verified(folder, name, files[name]))
        else:
            target.files.rm_file(path)
