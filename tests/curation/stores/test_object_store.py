"""Objects are put whole, found again, and created once; each trouble has its code."""

from __future__ import annotations

import errno
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from curation.stores.faults import fault_of
from curation.stores.object_store import is_url, open_store
from curation.system.errors import (
    BadConfiguration,
    CannotCreate,
    NoInput,
    NotPermitted,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.system.retry import RetryPolicy

if TYPE_CHECKING:
    from pathlib import Path

    from curation.stores.object_store import ObjectStore


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """An empty folder of objects."""
    if request.param == "memory":
        return open_store(f"memory://{uuid.uuid4().hex}/run")
    return open_store(f"file://{tmp_path}/run")


def test_objects_are_listed_and_read_by_name(store: ObjectStore) -> None:
    """Of a folder that is not there yet too; what is not there is none."""
    assert store.names() == []
    assert store.get("a") is None
    store.put("b/c", b"2")
    store.put("a", b"1")
    assert store.names() == ["a", "b/c"]
    assert store.get_all(["a", "b/c", "d"]) == {"a": b"1", "b/c": b"2"}
    store.remove("a")
    store.remove("a")
    assert store.names() == ["b/c"]


def test_an_object_is_created_once(store: ObjectStore) -> None:
    """A put that is repeated is well; other content under the name is told."""
    assert store.create("a", b"1")
    assert store.create("a", b"1")
    assert not store.create("a", b"2")
    assert store.get("a") == b"1"


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (PermissionError("Forbidden"), NotPermitted),
        (FileNotFoundError("The specified bucket does not exist"), NoInput),
        (OSError(errno.ENOSPC, "No space left on device"), CannotCreate),
        (OSError(errno.EIO, "XMinioStorageFull: Storage Full"), CannotCreate),
        (OSError(errno.EROFS, "Read-only file system"), CannotCreate),
        (
            OSError(errno.EBUSY, "Please reduce your request rate."),
            TemporarilyUnavailable,
        ),
        (TimeoutError("timed out"), TemporarilyUnavailable),
        (ImportError("Install s3fs to access S3"), BadConfiguration),
        (ValueError("Protocol not known: nope"), BadConfiguration),
        (RuntimeError("nobody answers"), Unavailable),
    ],
)
def test_each_trouble_has_its_code(raised: Exception, kind: type[Exception]) -> None:
    """One line, the place in it, and no credential."""
    secret = "AKIA" + "Q3EGRZ7XVN2WDKLB"
    raised.args = (*raised.args[:-1], f"{raised.args[-1]} {secret}")
    fault = fault_of(raised, f"s3://me:{secret}@bucket/run")
    assert type(fault) is kind
    assert "bucket/run" in str(fault)
    assert secret not in str(fault)


class _Failing(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    """Fails so many times before it does what is asked."""

    cachable = False
    left = 0

    def pipe_file(self, path: str, value: bytes, **options: str) -> None:
        if self.left:
            self.left -= 1
            raise OSError(errno.EBUSY, "Slow Down")
        super().pipe_file(path, value, **options)


def test_trouble_that_passes_is_waited_for() -> None:
    """As often as the policy says; then the same command may succeed later."""
    files = _Failing()
    policy = RetryPolicy(attempts=3, first_pause=0.0)
    made = open_store(f"memory://{uuid.uuid4().hex}/run")
    store = replace(made, files=files, retries=policy)
    files.left = 2
    store.put("a", b"1")
    assert store.get("a") == b"1"
    files.left = 3
    with pytest.raises(TemporarilyUnavailable, match="Slow Down"):
        store.put("a", b"2")


def test_a_path_is_no_url() -> None:
    """Only a text with a protocol is one."""
    assert is_url("hf://datasets/me/run")
    assert not is_url("runs/one")


def test_an_unknown_protocol_is_said() -> None:
    """Before anything is asked of anybody."""
    with pytest.raises(BadConfiguration, match="nope"):
        open_store("nope://bucket/run")


def test_a_missing_library_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the one store that an extra of ours is for."""

    def lacking(_url: str) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", lacking)
    with pytest.raises(BadConfiguration, match=r"s3fs.*pip install"):
        open_store("s3://bucket/run")
