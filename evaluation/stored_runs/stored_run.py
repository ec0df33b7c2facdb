"""A run whose folder is a URL: one object a batch of rows, and nothing is appended to.

The folder of objects has what a run's folder here has (`run.json`, `units-*.jsonl`,
`reproducers/`; of a suite's run `records.jsonl`, and `responses-*.jsonl` in place of
one file). This machine keeps a copy in the cache, to which every batch is written
before it is sent, so what a store has refused is sent when the same command is run
again. The name of a batch holds the driver that wrote it
and a number, so no two batches share one, and a put that is repeated changes nothing.
"""

from __future__ import annotations

import re
import threading
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import orjson

from curation.stores.lock import hold_store_lock
from curation.stores.object_store import open_store
from curation.system.atomic_files import atomic_write_bytes
from curation.system.errors import BadData, CsbdataError, TemporarilyUnavailable
from evaluation.execution.results_folder import (
    HEADER,
    ResultsFolder,
    check_same_run,
    fingerprints_in,
    hold_run_folder,
    lines_name,
    record_end,
)
from evaluation.stored_runs.stored_copy import (
    IDENTITY,
    OBJECTS,
    copy_folder,
    copy_objects,
    header_there,
    lasting_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.stores.lock import StoreLock
    from curation.stores.object_store import ObjectStore

#: Rows of an object at most; it may be sent earlier (`StoredLines.flush_old`).
_ROWS: Final = 256
_DRIVER_NUMBER: Final = re.compile(r"\.([0-9]{4,})-[0-9a-f]+-[0-9]+\.jsonl$")


class StoredLines:
    """Rows in batches: each a file of the copy here, then an object of the store."""

    def __init__(
        self, folder: Path, store: ObjectStore, prefix: str, check: Callable[[], None]
    ) -> None:
        """Take where they go.

        Args:
            folder: The copy on this machine, whose lock the caller holds.
            store: The folder of objects.
            prefix: How the names of this driver's objects begin.
            check: Raises if the folder is no longer this driver's.
        """
        self._folder = folder
        self._store = store
        self._prefix = prefix
        self._check = check
        self._lines: list[bytes] = []
        self._number = 0
        self._fault: CsbdataError | None = None
        self._guard = threading.RLock()

    def write(self, line: bytes) -> None:
        """Keep one line, and send all that are kept where they are enough.

        Raises:
            CsbdataError: the store does not take them; they are in the copy here.
        """
        with self._guard:
            self._lines.append(line + b"\n")
            if len(self._lines) >= _ROWS:
                self.flush()

    def flush(self) -> None:
        """Send what is kept.

        Raises:
            CsbdataError: the store does not take them; they are in the copy here.
        """
        with self._guard:
            if self._fault is not None:
                raise self._fault
            if not self._lines:
                return
            self._check()
            self._number += 1
            name = f"{self._prefix}-{self._number:06}.jsonl"
            content = b"".join(self._lines)
            atomic_write_bytes(self._folder / name, content)
            self._lines.clear()
            send_batch(self._store, name, content)

    def flush_old(self) -> None:
        """Send what is kept; a fault is raised by the next call."""
        try:
            self.flush()
        except CsbdataError as fault:
            self._fault = fault

    def close(self) -> None:
        """Send what is kept.

        Raises:
            CsbdataError: the store does not take them; they are in the copy here.
        """
        self.flush()


def send_batch(store: ObjectStore, name: str, content: bytes) -> None:
    """Create the object of a batch; one that is there already must be this one.

    Raises:
        BadData: another object has the name.
        CsbdataError: the store does not take it.
    """
    if not store.create(name, content):
        raise BadData(
            f"object {name} holds other rows than were written here",
            store.shown,
            "choose another --run-dir",
        )


class StoredResults(ResultsFolder):
    """An open run folder at a URL; made by `open_stored_results`."""

    def __init__(
        self,
        folder: Path,
        store: ObjectStore,
        batches: Callable[[str], StoredLines],
        lock: StoreLock,
    ) -> None:
        """Take the copy here, and where it is sent.

        Args:
            folder: The copy on this machine.
            store: The folder of objects.
            batches: Returns where lines of a kind (`units`, `responses`) go.
            lock: Of the store.
        """
        known = [path for path in lasting_files(folder) if path.match("units-*")]
        finished = set().union(*map(fingerprints_in, known))
        super().__init__(folder, batches("units"), finished, self._sent)
        self._store = store
        self._lock = lock
        self.batches = batches

    def keep(self, name: str, content: bytes) -> None:
        """Write a file that never changes once it is there.

        Raises:
            BadData: there is another one.
            CsbdataError: the store does not take it.
        """
        self._lock.check()
        atomic_write_bytes(self.folder / name, content)
        send_batch(self._store, name, content)

    def record_end(self, units: Mapping[tuple[str, str], int]) -> None:
        """Write into the header that the run has come to its end, and which objects.

        Who reads a finished run asks for these by name: a list of a store may lag.

        Raises:
            CsbdataError: the store does not take it.
        """
        record_end(self.folder, units)
        path = self.folder / HEADER
        header = orjson.loads(path.read_bytes())
        header[OBJECTS] = [found.name for found in lasting_files(self.folder)]
        atomic_write_bytes(path, _encoded(header))
        self._sent(path)

    def _sent(self, path: Path) -> None:
        self._lock.check()
        name = path.relative_to(self.folder).as_posix()
        self._store.put(name, path.read_bytes())


@contextmanager
def open_stored_results(
    url: str,
    header: Mapping[str, Json],
    cache: Path,
    say: Callable[[str], None] = lambda _message: None,
    turn: float | None = None,
) -> Iterator[StoredResults]:
    """Hold the folder at a URL and open it, new or with what earlier tries have left.

    Args:
        url: Of the folder, as fsspec knows it.
        header: What is asked, as `run.json` is to hold it.
        cache: Where the copies of this machine are.
        say: Is told that another driver is looked for.
        turn: Seconds between two signs of life; None for what suits the store.

    Raises:
        TemporarilyUnavailable: another run is at work there, or the store is in
            trouble (exit 75).
        BadConfiguration: the folder is of another run, or fsspec lacks something for
            this URL (exit 78).
        NotPermitted: the store refuses (exit 77).
        CannotCreate: it is full (exit 73).
        NoInput: there is no such bucket (exit 66).
        Unavailable: nobody answers (exit 69).
    """
    store = open_store(url)
    later: list[StoredLines] = []

    def flush_old() -> None:
        for lines in later:
            lines.flush_old()

    with hold_store_lock(store, say, turn, flush_old) as lock:
        there = _header_of_run(store, header)
        check_same_run(there, header, store.shown)
        folder = copy_folder(cache, "written", str(there[IDENTITY]), store.name)
        copy_objects(store, folder, there)
        with hold_run_folder(folder, header):
            names = set(store.names())
            known = lasting_files(folder)
            for path in known:
                if path.name not in names:
                    send_batch(store, path.name, path.read_bytes())
            number = 1 + max(map(_driver_number, known), default=0)

            def batches(kind: str) -> StoredLines:
                name = lines_name(header, kind)
                prefix = f"{name}.{number:04}-{lock.driver[:8]}"
                lines = StoredLines(folder, store, prefix, lock.check)
                later.append(lines)
                return lines

            with _sent_at_the_end(later):
                yield StoredResults(folder, store, batches, lock)


@contextmanager
def _sent_at_the_end(written: Sequence[StoredLines]) -> Iterator[None]:
    """Send what is kept when a block ends; its own fault says more than ours."""
    try:
        yield
    except BaseException:
        for lines in written:
            with suppress(CsbdataError):
                lines.close()
        raise
    for lines in written:
        lines.close()


def _header_of_run(
    store: ObjectStore, header: Mapping[str, Json]
) -> Mapping[str, Json]:
    """Return the header that is there, written now where none was.

    Raises:
        BadData: it cannot be read.
        TemporarilyUnavailable: another driver has written one in this moment.
    """
    there = header_there(store)
    if there is not None:
        return there
    new: dict[str, Json] = {**header, IDENTITY: uuid.uuid4().hex}
    if not store.create(HEADER, _encoded(new)):
        raise TemporarilyUnavailable(
            "another run has begun here", store.shown, "choose another --run-dir"
        )
    return new


def _encoded(header: Mapping[str, Json]) -> bytes:
    return orjson.dumps(header, option=orjson.OPT_INDENT_2)


def _driver_number(path: Path) -> int:
    found = _DRIVER_NUMBER.search(path.name)
    return int(found[1]) if found else 0
