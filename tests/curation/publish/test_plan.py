"""Laws of a plan, and a folder against a new build of what its manifest names."""

from __future__ import annotations

import hashlib
import json
from shutil import copytree
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from curation.cli import application
from curation.core.documents import Origin
from curation.dataset.summary import Pin
from curation.download.acquire import FetchSettings
from curation.pipeline.inputs import pinned_inputs
from curation.publish.plan import (
    RemoteFile,
    describe_content,
    files_listed,
    inventory,
    plan_for,
    published_files,
)
from curation.system.errors import BadData, Unavailable
from curation.system.progress import Quiet
from tests.curation.verification.tampering import RECORDS, record
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


@pytest.mark.slow
def test_a_build_comes_out_again_and_an_edit_is_named(
    sample_build: Path, tmp_path: Path
) -> None:
    """Exit 0 for a build as it was made; 65 and the names of the files for another."""
    folder = copytree(sample_build, tmp_path / "built")
    done = CliRunner().invoke(application(), ["verify", str(folder), "--rebuild"])
    assert done.exit_code == 0, done.output
    record(json_schema="{}")(folder)
    (folder / "mine.txt").write_text("Mine.")
    done = CliRunner().invoke(application(), ["verify", str(folder), "--rebuild"])
    assert done.stdout.split() == [RECORDS, "mine.txt"]
    assert isinstance(done.exception, BadData)
    assert "a new build gives 2 other files" in str(done.exception)


@pytest.mark.parametrize(
    ("origin", "sha256", "error"),
    [
        (Origin.LOCAL, "", Unavailable("schemas of your own", "")),
        (Origin.SAMPLE, "0" * 64, BadData("its digest is", "")),
        (Origin.UPSTREAM, "0" * 64, Unavailable("cannot be had here", "")),
    ],
)
def test_a_source_is_read_from_its_pin_or_not_at_all(
    tmp_path: Path, origin: Origin, sha256: str, error: Exception
) -> None:
    """The sample never stands for an archive, nor an archive for another."""
    pin = Pin(
        source="github",
        archive="json-schema-corpus",
        origin=origin,
        commit="",
        sha256=sha256,
        licence="",
    )
    settings = FetchSettings(cache=tmp_path, offline=True)
    with pytest.raises(type(error), match=str(error).partition(":")[0]):
        pinned_inputs([pin], "clean", settings, Quiet())
