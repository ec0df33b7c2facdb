"""One driver at a time in a folder of objects, told without comparing any two clocks.

The driver that is at work counts up in an object, over and over. Another one that
finds the object looks whether the count moves: if it does, that driver lives; if it
stands still for several turns, that driver was killed, and its place is taken. One
that had only stopped for a while finds another's name there, and writes no more.
"""

from __future__ import annotations

import os
import platform
import threading
import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.errors import CsbdataError, TemporarilyUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curation.stores.object_store import ObjectStore

#: The object's name.
LOCK: Final = "lock.json"
#: Seconds between two counts. On the Hub each is a commit.
_TURNS: Final = {"hf": 120.0}
_TURN: Final = 5.0
#: Turns without a count after which a driver is taken for dead.
_PATIENCE: Final = 4


class LockObject(msgspec.Struct, frozen=True, kw_only=True):
    """What the object says."""

    #: Drawn by each driver for itself.
    driver: str
    #: Where it is, for people.
    machine: str
    process: int
    count: int = 0


class StoreLock:
    """A lock that is held; made by `hold_store_lock`."""

    def __init__(self, store: ObjectStore, own: LockObject) -> None:
        """Take a lock whose object says our name."""
        self._store = store
        self._own = own
        self._guard = threading.Lock()
        self.lost: CsbdataError | None = None

    @property
    def driver(self) -> str:
        """The name that this driver has drawn."""
        return self._own.driver

    def check(self) -> None:
        """Check that no other driver has taken the place.

        Raises:
            TemporarilyUnavailable: one has (exit 75).
        """
        if self.lost is not None:
            raise self.lost

    def count(self) -> None:
        """Show that this driver lives; where the store is in trouble, the next time."""
        with self._guard:
            try:
                found = _read(self._store)
                if found is not None and found.driver != self._own.driver:
                    self.lost = _busy(self._store, found, "has taken over")
                    return
                self._own = msgspec.structs.replace(
                    self._own, count=self._own.count + 1
                )
                self._store.put(LOCK, msgspec.json.encode(self._own))
            except CsbdataError:
                return

    def release(self) -> None:
        """Remove the object, if it is ours."""
        with self._guard:
            try:
                found = _read(self._store)
                if found is not None and found.driver == self._own.driver:
                    self._store.remove(LOCK)
            except CsbdataError:
                # The next driver sees that the count stands still.
                return


@contextmanager
def hold_store_lock(
    store: ObjectStore,
    say: Callable[[str], None],
    turn: float | None = None,
    every_turn: Callable[[], None] = lambda: None,
) -> Iterator[StoreLock]:
    """Be the only driver in a folder of objects, for the length of a block.

    Args:
        store: The folder.
        say: Is told that another driver is looked for, which takes some turns.
        turn: Seconds between two counts; None for what suits the store.
        every_turn: Called in a thread of its own at each turn, after the count.

    Raises:
        TemporarilyUnavailable: another driver is at work there (exit 75).
        CsbdataError: the store cannot be read or written.
    """
    if turn is None:
        turn = _TURNS.get(store.shown.partition("://")[0], _TURN)
    lock = StoreLock(store, _acquired(store, say, turn))
    ended = threading.Event()

    def keep() -> None:
        while not ended.wait(turn):
            lock.count()
            every_turn()

    keeper = threading.Thread(target=keep, name="csbdata-store-lock", daemon=True)
    keeper.start()
    try:
        yield lock
    finally:
        ended.set()
        keeper.join()
        lock.release()


def _acquired(
    store: ObjectStore, say: Callable[[str], None], turn: float
) -> LockObject:
    """Return what the object says once it is ours.

    Raises:
        TemporarilyUnavailable: another driver lives (exit 75).
    """
    own = LockObject(
        driver=uuid.uuid4().hex, machine=platform.node(), process=os.getpid()
    )
    content = msgspec.json.encode(own)
    if store.create(LOCK, content) and _is_ours(store, own):
        return own
    found = _read(store)
    if found is not None:
        say(
            f"{store.shown}: {found.machine} (process {found.process}) was at work "
            f"here; looking for {turn * _PATIENCE:.0f} s whether it still is"
        )
        _check_still(store, found, turn)
    store.put(LOCK, content)
    # Two drivers may have found the same count standing still: the last one has it.
    time.sleep(turn / 5)
    if _is_ours(store, own):
        return own
    raise _busy(store, _read(store), "is at work here")


def _check_still(store: ObjectStore, first: LockObject, turn: float) -> None:
    """Check that a driver's count stands still, or that it has ended.

    Raises:
        TemporarilyUnavailable: it lives.
    """
    for _ in range(_PATIENCE):
        time.sleep(turn)
        found = _read(store)
        if found is None:
            return
        if found != first:
            raise _busy(store, found, "is at work here")


def _is_ours(store: ObjectStore, own: LockObject) -> bool:
    found = _read(store)
    return found is not None and found.driver == own.driver


def _read(store: ObjectStore) -> LockObject | None:
    """Return what the object says; None where it is not there, or says nothing."""
    content = store.get(LOCK)
    if content is None:
        return None
    try:
        return msgspec.json.decode(content, type=LockObject)
    except msgspec.DecodeError:
        return LockObject(driver="", machine="somebody", process=0)


def _busy(
    store: ObjectStore, found: LockObject | None, does: str
) -> TemporarilyUnavailable:
    who = "" if found is None else f" ({found.machine}, process {found.process})"
    return TemporarilyUnavailable(
        f"another run {does}{who}",
        store.shown,
        "wait for its end or choose another --run-dir",
    )
