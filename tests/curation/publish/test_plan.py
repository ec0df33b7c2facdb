"""Laws of a plan: what it says is what doing it would do."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.publish.plan import (
    RemoteFile,
    describe_content,
    files_listed,
    inventory,
    plan_for,
    published_files,
)
from curation.system.errors import BadData
from tests.fake_hub.published import SPLITS, published

if TYPE_CHECKING:
    from pathlib import Path

NAMES = st.sampled_from(["a", "b/c", "b/d", "README.md", "manifest.json", "e.parquet"])
CONTENTS = st.sampled_from([b"", b"1", b"2", b"33"])
TREES = st.dictionaries(NAMES, CONTENTS)


def _remote(content: bytes, *, large: bool) -> RemoteFile:
    known = describe_content(content)
    if large:
        return RemoteFile(sha256=known.sha256)
    return RemoteFile(git_oid=known.git_oid)


@given(here=TREES, there=TREES, edition=st.frozensets(NAMES), large=st.booleans())
def test_carried_out_it_leaves_what_is_here(
    *,
    here: dict[str, bytes],
    there: dict[str, bytes],
    edition: frozenset[str],
    large: bool,
) -> None:
    """And the Hub's own file; whatever goes is of the edition there, or foreign."""
    there = {**there, ".gitattributes": b"*.parquet"}
    local = {name: describe_content(each) for name, each in here.items()}
    remote = {name: _remote(each, large=large) for name, each in there.items()}
    plan = plan_for(local, remote, edition)
    after = dict(there)
    for name in plan.written:
        after[name] = here[name]
    for name in plan.removed:
        del after[name]
    assert after == {**here, ".gitattributes": b"*.parquet"}
    assert plan.nothing == (after == there)
    assert plan.replaces == any(after.get(name) != there[name] for name in there)
    assert plan.bytes == sum(len(here[name]) for name in plan.written)
    assert set(plan.deleted) <= edition
    assert edition.isdisjoint(plan.foreign)
    assert not set(plan.written) & set(plan.unchanged)


def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """A file of the user's elsewhere is never sent."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "folder" / "rows").symlink_to(tmp_path / "secret")
    with pytest.raises(BadData, match="leads out of the folder"):
        inventory(tmp_path / "folder")


@given(content=st.binary(max_size=300))
def test_a_content_is_described_as_git_and_the_hub_do(content: bytes) -> None:
    """Size, sha256, and the sha1 of git's blob."""
    known = describe_content(content)
    blob = b"blob " + str(len(content)).encode() + b"\0" + content
    assert known.git_oid == hashlib.sha1(blob).hexdigest()  # noqa: S324 (git's own)
    assert known.sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.slow
@given(
    manifest=st.dictionaries(
        st.sampled_from(["files", "name"]),
        st.recursive(st.none() | st.booleans() | st.text(max_size=5), st.lists),
    )
)
def test_any_manifest_can_be_asked_for_its_files(manifest: dict[str, object]) -> None:
    """One that lists nothing in our way answers for nothing, not even for itself."""
    assert files_listed(json.dumps(manifest).encode()) == frozenset()


def test_a_manifest_answers_for_itself_and_its_checksums() -> None:
    """They are ours wherever the manifest is."""
    ours = {"manifest.json", "SHA256SUMS"}
    assert files_listed(b'{"files": {"a": {}}}') == {"a", *ours}


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "LICENSE",
        "data/mine-00000-of-00001.parquet",
        "data/Github_easy-00000-of-00001.json",
        "data/Github_easy-dev-00000-of-00001.parquet",
        "Mine/train-00000-of-00001.parquet",
        "Github_easy/dev-00000-of-00001.parquet",
        "old/Github_easy/train-00000-of-00001.parquet",
    ],
)
def test_the_published_edition_is_its_card_and_its_tables(name: str) -> None:
    """All of its listing is known; another name is somebody else's."""
    listing = frozenset(published())
    listing |= {f"data/Github_easy-{split}-00000-of-00001.parquet" for split in SPLITS}
    assert published_files([*listing, name, ".gitattributes"]) == listing
