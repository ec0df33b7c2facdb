"""A run at a URL: an object a batch, found again, and read like a folder here."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from curation.stores.lock import LOCK
from curation.stores.object_store import ObjectStore, open_store
from curation.system.errors import (
    BadConfiguration,
    BadData,
    CannotCreate,
    NoInput,
)
from evaluation.results.reader import open_run
from evaluation.stored_runs import stored_run
from evaluation.stored_runs.stored_copy import copy_run
from evaluation.stored_runs.stored_run import open_stored_results
from tests.evaluation.made_runs import row

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from evaluation.execution.results_folder import ResultsFolder

_HEAD: dict[str, Any] = {
    "plan": "p",
    "shard": "1/1",
    "machine": {"cores": 2},
    "models": {},
    "writing": None,
    "finished": None,
}
_TURN = 0.2


@pytest.fixture
def url() -> str:
    """A folder of objects that is not there yet."""
    return f"memory://{uuid.uuid4().hex}/run"


def _open(url: str, cache: Path) -> AbstractContextManager[ResultsFolder]:
    return open_stored_results(url, _HEAD, cache, turn=_TURN)


def _write(url: str, cache: Path, *marks: str) -> set[str]:
    """Write rows; return the fingerprints that were there."""
    with _open(url, cache) as out:
        found = set(out.finished)
        for mark in marks:
            out.write(row(id=mark, fingerprint=mark))
        return found


def test_rows_are_found_again_from_any_machine(tmp_path: Path, url: str) -> None:
    """With the cache of the one that wrote them, and without; each batch is one."""
    assert _write(url, tmp_path / "a", "1", "2") == set()
    assert _write(url, tmp_path / "a", "3") == {"1", "2"}
    assert _write(url, tmp_path / "b") == {"1", "2", "3"}
    names = [name for name in open_store(url).names() if name.startswith("units-")]
    assert len(names) == 2
    assert LOCK not in open_store(url).names()
    run = open_run(copy_run(url, tmp_path / "c"))
    assert [found.id for found in run.rows()] == ["1", "2", "3"]
    assert run.header.finished is None


def test_a_batch_is_sent_before_the_run_ends(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When there are enough rows; what a driver that is killed has sent, stays."""
    monkeypatch.setattr(stored_run, "_ROWS", 2)
    with _open(url, tmp_path) as out:
        for mark in "12345":
            out.write(row(id=mark, fingerprint=mark))
        run = open_run(copy_run(url, tmp_path))
        assert len(run) >= 4


def test_a_folder_is_of_one_run(tmp_path: Path, url: str) -> None:
    """Said of the URL, with the code of a folder here."""
    _write(url, tmp_path, "1")
    other = {**_HEAD, "plan": "q"}
    with (
        pytest.raises(BadConfiguration, match=r"memory://.*another run"),
        open_stored_results(url, other, tmp_path, turn=_TURN),
    ):
        pass


def test_a_finished_run_needs_no_list(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its header names the objects: one that a list leaves out is read."""
    with _open(url, tmp_path / "a") as out:
        out.write(row(fingerprint="1"))
        out.flush()
        out.record_end({("alpha 1.0", "masks"): 1})
    monkeypatch.setattr(ObjectStore, "names", lambda _self: [])
    assert len(open_run(copy_run(url, tmp_path / "b"))) == 1


def test_a_listed_object_that_is_gone_is_said(tmp_path: Path, url: str) -> None:
    """Nothing is read as if it were whole."""
    with _open(url, tmp_path / "a") as out:
        out.write(row(fingerprint="1"))
        out.flush()
        out.record_end({("alpha 1.0", "masks"): 1})
    store = open_store(url)
    for name in store.names():
        if name.startswith("units-"):
            store.remove(name)
    with pytest.raises(BadData, match="1 of 1 objects are not there"):
        copy_run(url, tmp_path / "b")


def test_what_a_full_store_refused_is_sent_by_the_next_try(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are in the copy here: nothing is measured again, nothing is twice."""
    create: Callable[[ObjectStore, str, bytes], bool] = ObjectStore.create

    def full(self: ObjectStore, name: str, content: bytes) -> bool:
        if name.startswith("units-"):
            raise CannotCreate("No space left", self.shown)
        return create(self, name, content)

    monkeypatch.setattr(ObjectStore, "create", full)
    with pytest.raises(CannotCreate):
        _write(url, tmp_path, "1", "2")
    assert not any(name.startswith("units-") for name in open_store(url).names())
    monkeypatch.undo()
    assert _write(url, tmp_path) == {"1", "2"}
    assert len(open_run(copy_run(url, tmp_path / "b"))) == 2


def test_a_list_that_lags_loses_and_doubles_nothing(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it leaves out is measured again elsewhere, and counts once when read."""
    _write(url, tmp_path / "a", "1", "2")
    monkeypatch.setattr(ObjectStore, "names", lambda _self: [])
    assert _write(url, tmp_path / "b", "1", "3") == set()
    monkeypatch.undo()
    run = open_run(copy_run(url, tmp_path / "c"))
    assert [found.id for found in run.rows()] == ["1", "2", "3"]
    assert run.replaced == 1


def test_reproducers_and_who_could_not_be_run_are_there(
    tmp_path: Path, url: str
) -> None:
    """All that a folder here has."""
    head = {**_HEAD, "engines": [{"engine": "a"}]}
    with open_stored_results(url, head, tmp_path, turn=_TURN) as out:
        out.write_reproducer(out.reproducer("one"), "{}")
        out.record_unavailable({"a": "not installed"})
    store = open_store(url)
    assert store.get("reproducers/one.json") == b"{}"
    header = orjson.loads(store.get("run.json") or b"")
    assert header["engines"] == [{"engine": "a", "unavailable": "not installed"}]


def test_no_run_is_said(tmp_path: Path, url: str) -> None:
    """With what to do."""
    with pytest.raises(NoInput, match="no run is here"):
        copy_run(url, tmp_path)
