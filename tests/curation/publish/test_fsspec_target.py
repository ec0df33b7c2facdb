"""The same repository in a folder, and behind a URL."""

from __future__ import annotations

import errno
import json
import os
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

import fsspec
import pytest

from curation.publish.fsspec_target import (
    FsspecTarget,
    _alone,
    fault_of,
    open_target,
    plan_write,
    write_to_target,
)
from curation.publish.plan import inventory
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
from tests.publishing import FILES, contents, write_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.publish.plan import PushPlan


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Locks are in the user's cache folder."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))


def _written(folder: Path, url: str) -> PushPlan:
    files = inventory(folder)
    target = open_target(url)
    plan = plan_write(target, files)
    write_to_target(folder, files, target, plan)
    return plan


def _held(url: str) -> dict[str, bytes]:
    files, root = fsspec.core.url_to_fs(url)
    return {
        path.removeprefix(root).lstrip("/"): files.cat_file(path)
        for path in files.find(root)
    }


@pytest.mark.parametrize("form", ["{}", "file://{}", "memory:/{}"])
def test_the_same_files_are_there(form: str, tmp_path: Path) -> None:
    """Written, written again, and written with fewer files and another's beside."""
    url = form.format(tmp_path / "there")
    folder = write_folder(tmp_path / "one")
    assert _written(folder, url).unchanged == ()
    assert _held(url) == contents(folder)
    assert _written(folder, url).nothing
    files, root = fsspec.core.url_to_fs(url)
    files.pipe_file(f"{root}/theirs.txt", b"1")
    fewer = write_folder(tmp_path / "two", dict(list(FILES.items())[:2]))
    plan = _written(fewer, url)
    assert plan.left_alone == ("theirs.txt",)
    assert len(plan.deleted) == 2
    assert _held(url) == {**contents(fewer), "theirs.txt": b"1"}


def test_a_killed_push_is_gone_on_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Wherever it was killed, the same command ends with what the folder has."""
    url = "memory://killed/there"
    files, _ = fsspec.core.url_to_fs(url)
    folder = write_folder(tmp_path / "fewer", dict(list(FILES.items())[:2]))
    steps = [getattr(type(files), name) for name in ("pipe_file", "rm_file")]
    done = killed_at = 0

    def counting(step: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object, **more: object) -> None:
            nonlocal done
            done += 1
            if done == killed_at:
                raise KeyboardInterrupt
            step(*arguments, **more)

        return call

    while done == killed_at:
        with monkeypatch.context() as patch:
            _written(write_folder(tmp_path / "one"), url)
            done, killed_at = 0, killed_at + 1
            for step in steps:
                patch.setattr(type(files), step.__name__, counting(step))
            with suppress(KeyboardInterrupt):
                _written(folder, url)
        _written(folder, url)
        assert _held(url) == contents(folder), f"killed at step {killed_at}"
    assert killed_at > len(FILES) - 2


def test_what_is_not_ours_stays_as_it_is(tmp_path: Path) -> None:
    """Modes, links and empty folders too; our own emptied folder goes."""
    there = tmp_path / "there"
    _written(write_folder(tmp_path / "one"), str(there))
    private = there / "notes" / "own.txt"
    private.parent.mkdir(mode=0o700)
    private.write_text("mine")
    private.chmod(0o600)
    (there / "empty").mkdir()
    links = {"file": "notes/own.txt", "folder": "notes", "broken": "gone"}
    for name, leads_to in links.items():
        (there / name).symlink_to(leads_to)
    fewer = write_folder(tmp_path / "two", dict(list(FILES.items())[:2]))
    assert _written(fewer, str(there)).left_alone == (*sorted(links), "notes/own.txt")
    assert private.read_text() == "mine"
    assert private.stat().st_mode & 0o777 == 0o600
    assert private.parent.stat().st_mode & 0o777 == 0o700
    assert {name: str((there / name).readlink()) for name in links} == links
    assert (there / "empty").is_dir()
    assert not (there / "A").exists()


def test_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    """It is only read back: the files are the same ones."""
    folder, there = write_folder(tmp_path / "one"), tmp_path / "there"
    _written(folder, str(there))
    before = (there / "README.md").stat().st_ino
    assert _written(folder, str(there)).nothing
    assert (there / "README.md").stat().st_ino == before


def test_looking_changes_nothing(tmp_path: Path) -> None:
    """Not even the folder is made."""
    plan_write(
        open_target(str(tmp_path / "there")), inventory(write_folder(tmp_path / "one"))
    )
    assert not (tmp_path / "there").exists()


def test_a_folder_that_is_not_ours_is_left(tmp_path: Path) -> None:
    """Without a manifest of ours in it, it is not replaced: exit code 73."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "x.txt").write_text("x")
    with pytest.raises(CannotCreate, match="holds something else"):
        _written(write_folder(tmp_path / "one"), str(tmp_path / "there"))
    assert contents(tmp_path / "there") == {"x.txt": b"x"}


def test_elsewhere_the_manifest_comes_last(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Interrupted before, whoever reads by the manifest finds the old files whole."""
    url = "memory://order/there"
    _written(write_folder(tmp_path / "one"), url)
    more = write_folder(tmp_path / "two", {**FILES, "z/test.parquet": b"2"})
    files, root = fsspec.core.url_to_fs(url)
    order: list[str] = []
    pipe = type(files).pipe_file

    def note(self: object, path: str, *rest: object, **more: object) -> None:
        order.append(path.removeprefix(root).lstrip("/"))
        pipe(self, path, *rest, **more)

    monkeypatch.setattr(type(files), "pipe_file", note)
    _written(more, url)
    assert order == ["z/test.parquet", "manifest.json"]


def test_a_file_that_changed_since_it_was_verified_is_not_written(
    tmp_path: Path,
) -> None:
    """The folder there stays as it was."""
    folder = write_folder(tmp_path / "one")
    files, target = inventory(folder), open_target(str(tmp_path / "there"))
    plan = plan_write(target, files)
    (folder / "README.md").write_bytes(bytes(files["README.md"].bytes))
    with pytest.raises(BadData, match="changed since"):
        write_to_target(folder, files, target, plan)
    assert not (tmp_path / "there").exists()


def test_two_pushes_to_one_folder_are_one_too_many(tmp_path: Path) -> None:
    """The second is told to come again, by whatever name: exit code 75."""
    folder, target = write_folder(tmp_path / "one"), tmp_path / "there"
    (tmp_path / "link").symlink_to(target)
    for name in ("there", "link"):
        with _alone(target), pytest.raises(TemporarilyUnavailable):
            _written(folder, str(tmp_path / name))


def test_the_lock_is_in_the_cache_that_the_user_names(tmp_path: Path) -> None:
    """There alone: none stays beside the folder."""
    with _alone(tmp_path / "there"):
        assert len(list((tmp_path / "cache" / "push").iterdir())) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["cache"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_place_that_may_not_be_written_is_a_fault(tmp_path: Path) -> None:
    """Exit code 73, and nothing is left there."""
    (tmp_path / "shut").mkdir(mode=0o500)
    with pytest.raises(CannotCreate):
        _written(write_folder(tmp_path / "one"), str(tmp_path / "shut" / "there"))


@pytest.mark.parametrize("url", ["nosuch://x/y", "gs://bucket/x"])
def test_what_fsspec_does_not_know_or_lacks_is_said(url: str) -> None:
    """With the package that would do it, where there is one."""
    with pytest.raises((BadConfiguration, CsbdataError)) as caught:
        open_target(url)
    assert url in str(caught.value)


class _Store:
    """An object store, in which a key may be any text."""

    held: ClassVar = {"r/A/x.parquet": b"1", "r/../../../out.parquet": b"2"}

    def exists(self, _root: str) -> bool:
        return True

    def find(self, _root: str) -> list[str]:
        return list(self.held)

    def cat_file(self, path: str) -> bytes:
        return self.held[path]


def test_keys_that_lead_elsewhere_are_not_touched() -> None:
    """They are neither read nor deleted."""
    target = FsspecTarget(label="store", local=None, files=_Store(), root="r", url="r")
    plan = plan_write(target, {})
    assert (plan.left_alone, plan.deleted) == (("A/x.parquet",), ())


def test_credentials_in_a_url_are_not_shown() -> None:
    """A user's password for a file server stays with the user."""
    shown = open_target("memory://user:pa55word@host/x").label
    assert "pa55word" not in shown
    assert json.dumps(shown)


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
        (ImportError("Install s3fs to access S3"), Unavailable),
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


def test_room_is_asked_for_where_there_is_none() -> None:
    """Not of a store that is read-only, whatever room it has."""
    full, shut = (
        str(fault_of(OSError(number, "no"), "s3://bucket/run"))
        for number in (errno.ENOSPC, errno.EROFS)
    )
    assert "make room" in full
    assert "make room" not in shut


def test_an_unknown_protocol_is_said() -> None:
    """Before anything is asked of anybody."""
    with pytest.raises(BadConfiguration, match="nope"):
        open_target("nope://bucket/run")


def test_a_missing_library_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the one store that an extra of ours is for."""

    def lacking(_url: str) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", lacking)
    with pytest.raises(Unavailable, match=r"s3fs.*pip install"):
        open_target("s3://bucket/run")


def test_what_a_library_says_of_an_address_is_not_in_the_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`CSBDATA_DEBUG` prints causes: one that may repeat a secret is left out."""

    def repeat(url: str) -> None:
        raise ValueError(url.partition("@")[0].rpartition(":")[2])

    monkeypatch.setattr(fsspec.core, "url_to_fs", repeat)
    word = "word" * 3
    url = f"gs://me:{word}@bucket/run"
    with pytest.raises(BadConfiguration) as caught:
        open_target(url)
    assert word not in "".join(traceback.format_exception(caught.value))
