"""The fake Hub against the real client: what later tests rest on."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import huggingface_hub
import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RevisionNotFoundError,
)

from tests.fake_hub import FakeHub, fake_hub
from tests.fake_hub.store import Blob
from tests.fake_hub.troubles import status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# huggingface_hub hands files to httpx2 in a way that httpx2 will drop one day.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

NAME = "tester/data"
TOKEN = "hf_" + "t" * 34
LARGE = bytes(range(256)) * 40


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A Hub with a repository and a token that may write."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    with fake_hub() as made:
        made.allow(TOKEN)
        yield made


@pytest.fixture
def api(hub: FakeHub) -> HfApi:
    """The real client, and a private repository of its making."""
    api = HfApi(endpoint=hub.endpoint, token=TOKEN)
    api.create_repo(NAME, repo_type="dataset", private=True)
    return api


def _commit(
    api: HfApi,
    files: dict[str, bytes],
    *,
    parent_commit: str | None = None,
) -> str:
    done = api.create_commit(
        NAME,
        [CommitOperationAdd(path, body) for path, body in files.items()],
        commit_message="Add",
        repo_type="dataset",
        parent_commit=parent_commit,
    )
    return done.oid


def _head(api: HfApi) -> str:
    sha = api.dataset_info(NAME).sha
    assert sha is not None
    return sha


def test_a_commit_of_small_and_large_files_is_what_a_reader_sees(
    hub: FakeHub, api: HfApi, tmp_path: Path
) -> None:
    """Both kinds arrive, and come back as they were through snapshot_download."""
    files = {"README.md": b"---\na: b\n---\n", "a/x.parquet": LARGE}
    oid = _commit(api, files, parent_commit=_head(api))
    seen = hub.store.view(NAME)
    assert seen is not None
    assert seen.items() >= files.items()
    assert oid == _head(api)
    api.snapshot_download(NAME, repo_type="dataset", revision=oid, local_dir=tmp_path)
    for path, body in files.items():
        assert (tmp_path / path).read_bytes() == body


def test_large_files_travel_in_parts_where_the_storage_wants_parts(
    hub: FakeHub, api: HfApi
) -> None:
    """The client's multipart upload is put together again."""
    hub.part_bytes = 3_000
    _commit(api, {"x.parquet": LARGE})
    seen = hub.store.view(NAME)
    assert seen is not None
    assert seen["x.parquet"] == LARGE
    assert hub.count("PUT", "/data/") == -(-len(LARGE) // 3_000)


def test_an_object_that_is_there_is_not_sent_again(hub: FakeHub, api: HfApi) -> None:
    """Content uploaded once, for whatever commit, is recognised by its digest."""
    operation = CommitOperationAdd("x.parquet", LARGE)
    api.preupload_lfs_files(NAME, [operation], repo_type="dataset")
    before = hub.count("PUT", "")
    _commit(api, {"y.parquet": LARGE})
    assert hub.count("PUT", "") == before == 1


def test_a_commit_on_another_parent_is_refused_and_changes_nothing(
    hub: FakeHub, api: HfApi
) -> None:
    """412, and the head stays where it was."""
    parent = _head(api)
    theirs = hub.store.put(NAME, {"theirs.txt": b"1"})
    with pytest.raises(HfHubHTTPError) as caught:
        _commit(api, {"ours.txt": b"2"}, parent_commit=parent)
    assert caught.value.response.status_code == 412
    assert _head(api) == theirs


def test_a_listing_of_many_pages_is_complete(hub: FakeHub, api: HfApi) -> None:
    """Trees and paths say size, git's name and, for large files, the sha256."""
    hub.page = 3
    files = {f"d/{number}.parquet": LARGE + bytes([number]) for number in range(8)}
    _commit(api, files)
    entries = {
        each.path: each
        for each in api.list_repo_tree(NAME, repo_type="dataset", recursive=True)
        if isinstance(each, huggingface_hub.hf_api.RepoFile)
    }
    assert entries.keys() == files.keys() | {".gitattributes"}
    for path, body in files.items():
        lfs = entries[path].lfs
        assert lfs is not None
        assert lfs.sha256 == hashlib.sha256(body).hexdigest()
        assert entries[path].blob_id == Blob(body, large=True).git_oid
    (info,) = api.get_paths_info(NAME, ["d/3.parquet", "no"], repo_type="dataset")
    assert info.path == "d/3.parquet"
    assert len(api.list_repo_commits(NAME, repo_type="dataset")) == 2


def test_names_for_commits_are_made_once(hub: FakeHub, api: HfApi) -> None:
    """A tag leads where it should; a second one of a name is 409."""
    oid = _commit(api, {"a.txt": b"1"})
    api.create_tag(NAME, tag="v1.0.0", revision=oid, repo_type="dataset")
    with pytest.raises(HfHubHTTPError) as caught:
        api.create_tag(NAME, tag="v1.0.0", repo_type="dataset")
    assert caught.value.response.status_code == 409
    assert hub.store.view(NAME) == hub.store.view(NAME, "v1.0.0")


def test_deleted_files_are_gone(hub: FakeHub, api: HfApi) -> None:
    """By path, in the same commit as others arrive."""
    _commit(api, {"a.txt": b"1", "b.txt": b"2"})
    api.create_commit(
        NAME,
        [CommitOperationDelete("a.txt")],
        commit_message="Drop",
        repo_type="dataset",
    )
    seen = hub.store.view(NAME)
    assert seen is not None
    assert "a.txt" not in seen
    assert seen["b.txt"] == b"2"


def test_rights_are_asked_for(hub: FakeHub, api: HfApi) -> None:
    """No token, an unknown one, one that may only read: 401, 401, 403."""
    hub.allow("hf_reader", "read")
    found = []
    for token in (False, "hf_unknown", "hf_reader"):
        other = HfApi(endpoint=hub.endpoint, token=token)
        with pytest.raises(HfHubHTTPError) as caught:
            other.create_repo("tester/more", repo_type="dataset")
        found.append(caught.value.response.status_code)
    assert found == [401, 401, 403]
    assert api.whoami()["name"] == "tester"


def test_what_is_not_there_has_the_names_that_the_client_knows(api: HfApi) -> None:
    """An unknown revision and an unknown file raise the client's own errors."""
    with pytest.raises(RevisionNotFoundError):
        api.dataset_info(NAME, revision="v9")
    with pytest.raises(RemoteEntryNotFoundError):
        api.hf_hub_download(NAME, "no.txt", repo_type="dataset")


def test_a_token_never_reaches_the_storage(
    hub: FakeHub, api: HfApi, tmp_path: Path
) -> None:
    """Signed addresses need none, and another origin gets none."""
    oid = _commit(api, {"x.parquet": LARGE})
    api.hf_hub_download(
        NAME, "x.parquet", repo_type="dataset", revision=oid, local_dir=tmp_path
    )
    stored = [each for each in hub.asked if each.door == "storage"]
    assert {each.method for each in stored} == {"PUT", "GET"}
    assert not any(each.authorized for each in stored)


def test_a_trouble_meets_as_many_requests_as_it_says(hub: FakeHub, api: HfApi) -> None:
    """Once, behind those it lets pass."""
    hub.troubles.add("GET", "/api/datasets", status(418), skip=1)
    found: list[int] = []
    for _ in range(3):
        try:
            found.append(bool(_head(api)))
        except HfHubHTTPError as error:
            found.append(error.response.status_code)
    assert found == [True, 418, True]
