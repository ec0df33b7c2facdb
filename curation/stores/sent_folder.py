"""A folder that is written here and sent to a URL when it is whole."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from curation.credentials.redaction import redacted
from curation.stores.object_store import is_url, open_store
from curation.system.errors import CannotCreate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.stores.object_store import ObjectStore


@contextmanager
def folder_to_write(place: str, *, last: str = "") -> Iterator[Path]:
    """Give a folder to write to: the one named, or one that is sent to the URL named.

    Nothing is sent where the block raises. What is killed while it sends can be
    started again.

    Args:
        place: A path, or the URL of a folder that fsspec knows.
        last: The file that is sent after all others, which readers go by. Where one
            is named, nothing may be at the URL but what an earlier try has sent.

    Raises:
        BadConfiguration: fsspec does not know the URL, or a package for it is missing.
        CannotCreate: something is there already, or the store cannot be written.
        CsbdataError: the store cannot be reached.
    """
    if not is_url(place):
        yield Path(place)
        return
    store = open_store(place)
    there = store.names() if last else []
    if last in there:
        raise _is_there(store)
    with TemporaryDirectory(prefix="csbdata-sent-") as name:
        folder = Path(name)
        yield folder
        files = {
            path.relative_to(folder).as_posix(): path
            for path in folder.rglob("*")
            if path.is_file()
        }
        if not files.keys() >= set(there):
            raise _is_there(store)
        _send(files, store, last)


def _is_there(store: ObjectStore) -> CannotCreate:
    return CannotCreate("is there already", store.shown, "choose another URL")


def _send(files: Mapping[str, Path], store: ObjectStore, last: str) -> None:
    for name in sorted(files, key=lambda name: (name == last, name)):
        store.put(name, files[name].read_bytes())


def shown_at(path: Path, folder: Path, place: str) -> str:
    """Return where a file that was written into the folder of a place is found."""
    if not is_url(place):
        return str(path)
    return f"{redacted(place).rstrip('/')}/{path.relative_to(folder).as_posix()}"
