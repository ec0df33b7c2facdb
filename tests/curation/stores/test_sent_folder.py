"""A folder is sent to its URL when it is whole, and only then."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from curation.stores.object_store import ObjectStore, open_store
from curation.stores.sent_folder import folder_to_write, shown_at
from curation.system.errors import BadConfiguration, CannotCreate


@pytest.fixture(params=["memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A URL where nothing is."""
    if request.param == "memory":
        return f"memory://{uuid.uuid4().hex}/out"
    return f"file://{tmp_path}/out"


def test_a_path_is_the_folder_itself(tmp_path: Path) -> None:
    """Nothing is made or moved: whoever writes there makes it."""
    place = str(tmp_path / "out")
    with folder_to_write(place) as folder:
        assert folder == Path(place)
        assert not folder.exists()
    assert shown_at(folder / "a", folder, place) == f"{place}/a"


def test_files_are_sent_with_the_folders_they_are_in(url: str) -> None:
    """What stays here is nothing."""
    with folder_to_write(url) as folder:
        (folder / "b").mkdir()
        (folder / "b" / "c").write_bytes(b"2")
        (folder / "a").write_bytes(b"1")
        assert open_store(url).names() == []
    assert open_store(url).get_all(["a", "b/c"]) == {"a": b"1", "b/c": b"2"}
    assert not folder.exists()
    assert shown_at(folder / "b" / "c", folder, url) == f"{url}/b/c"


def test_the_file_that_others_go_by_is_sent_last(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader who finds it finds the rest."""
    sent: list[str] = []
    put = ObjectStore.put

    def noted(store: ObjectStore, name: str, content: bytes) -> None:
        sent.append(name)
        put(store, name, content)

    monkeypatch.setattr(ObjectStore, "put", noted)
    with folder_to_write(url, last="b") as folder:
        for name in "cba":
            (folder / name).touch()
    assert sent == ["a", "c", "b"]


def test_nothing_is_sent_of_what_failed(url: str) -> None:
    """Half of a folder would be taken for a whole one."""

    def fail(folder: Path) -> None:
        (folder / "a").touch()
        raise FileNotFoundError

    with pytest.raises(FileNotFoundError), folder_to_write(url) as folder:
        fail(folder)
    assert open_store(url).names() == []


def test_what_is_there_already_is_kept_where_it_must_be_new(url: str) -> None:
    """The error names the URL, and comes before any work."""
    open_store(url).put("a", b"1")
    with (
        pytest.raises(CannotCreate, match="is there already") as raised,
        folder_to_write(url, last="a"),
    ):
        pytest.fail("there was work")
    assert url in str(raised.value)
    assert open_store(url).get("a") == b"1"


def _write_two(folder: Path) -> None:
    (folder / "a").write_bytes(b"1")
    (folder / "b").write_bytes(b"2")


def test_what_was_killed_while_it_was_sent_is_sent_again(url: str) -> None:
    """All but the last file may be there, whatever is in them."""
    open_store(url).put("a", b"half")
    with folder_to_write(url, last="b") as folder:
        _write_two(folder)
    assert open_store(url).get_all(["a", "b"]) == {"a": b"1", "b": b"2"}


def test_nothing_is_sent_beside_what_others_have_put_there(url: str) -> None:
    """A reader would take both for one."""
    open_store(url).put("c", b"3")
    with (
        pytest.raises(CannotCreate, match="is there already"),
        folder_to_write(url, last="b") as folder,
    ):
        _write_two(folder)
    assert open_store(url).names() == ["c"]


def test_a_url_that_fsspec_does_not_know_is_refused() -> None:
    """Exit 78, before anything is written."""
    with pytest.raises(BadConfiguration), folder_to_write("nowhere://a/b"):
        pytest.fail("there was work")
