"""Two drivers in one folder of objects: one works, and no clocks are compared."""

from __future__ import annotations

import threading
import uuid

import msgspec
import pytest

from curation.stores.lock import LOCK, LockObject, hold_store_lock
from curation.stores.object_store import ObjectStore, open_store
from curation.system.errors import TemporarilyUnavailable

_TURN = 0.05


@pytest.fixture
def store() -> ObjectStore:
    """An empty folder of objects."""
    return open_store(f"memory://{uuid.uuid4().hex}/run")


def test_a_second_driver_is_refused(store: ObjectStore) -> None:
    """It names the first, which goes on; when that one ends, nothing is left."""
    said: list[str] = []
    with hold_store_lock(store, said.append, _TURN) as first:
        with (
            pytest.raises(TemporarilyUnavailable, match=r"is at work here \(.*process"),
            hold_store_lock(store, said.append, _TURN),
        ):
            pass
        first.check()
    assert "whether it still is" in said[0]
    assert store.names() == []


def test_a_killed_driver_is_followed(store: ObjectStore) -> None:
    """Its count stands still, whatever its clock said and whatever ours says."""
    dead = LockObject(driver="d", machine="m", process=1, count=7)
    store.put(LOCK, msgspec.json.encode(dead))
    said: list[str] = []
    with hold_store_lock(store, said.append, _TURN) as lock:
        lock.check()
    assert "m (process 1) was at work here" in said[0]


def test_a_driver_that_only_slept_writes_no_more(store: ObjectStore) -> None:
    """It finds another's name there, and leaves the object alone."""
    told = threading.Event()
    other = LockObject(driver="other", machine="m", process=2)
    with hold_store_lock(store, print, _TURN, told.set) as lock:
        store.put(LOCK, msgspec.json.encode(other))
        told.clear()
        assert told.wait(30)
        assert told.wait(30)
        lock.count()
        with pytest.raises(TemporarilyUnavailable, match="has taken over"):
            lock.check()
    assert store.names() == [LOCK]


def test_a_damaged_lock_is_a_driver_that_stands_still(store: ObjectStore) -> None:
    """Nothing of it moves, so its place is taken."""
    store.put(LOCK, b"\xff")
    with hold_store_lock(store, lambda _line: None, _TURN) as lock:
        lock.check()
