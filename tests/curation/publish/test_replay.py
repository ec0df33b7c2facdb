"""Tests of `verify --against-sources`: a folder against a new build of its sources."""

from __future__ import annotations

import json
from shutil import copytree
from typing import TYPE_CHECKING

import polars as pl
import pytest

from curation.core.documents import Origin
from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.dataset.summary import Pin
from curation.download.acquire import FetchSettings
from curation.packaging.manifest import FILE as MANIFEST
from curation.pipeline.inputs import pinned_inputs
from curation.publish.replay import differences, replay
from curation.publish.verify import verify
from curation.system.errors import BadData, Unavailable
from curation.system.progress import Quiet
from tests.curation.verification.tampering import (
    COPIES,
    INSTANCES,
    RECORDS,
    rewrite,
    where,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_FIRST = pl.int_range(pl.len()) == 0


def _member(name: str, value: object) -> Callable[[Path], None]:
    """Return what sets a member of the manifest."""

    def change(folder: Path) -> None:
        path = folder / MANIFEST
        path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))

    return change


@pytest.mark.parametrize(
    ("tamper", "file", "detail"),
    [
        (where(DOCUMENTS, COPIES, detail="a/b"), DOCUMENTS, "detail is a/b"),
        (where(DOCUMENTS, _FIRST, raw_sha256="0" * 64), DOCUMENTS, "raw_sha256 is 000"),
        (where(CHANGES, _FIRST, before='"x"'), CHANGES, 'before is "x"'),
        (where(CHANGES, _FIRST, after="<script>"), CHANGES, "after is <script>"),
        (where(CHANGES, _FIRST, note="by hand"), CHANGES, "note is by hand"),
        (where(RECORDS, _FIRST, json_schema="{}"), RECORDS, "json_schema is {}"),
        (where(INSTANCES, _FIRST, text="{}"), INSTANCES, "text is {}"),
        (rewrite(RECORDS, lambda rows: rows.head(1)), RECORDS, "1 row; the sources"),
        (_member("mine", [1]), MANIFEST, "mine is [1], not null"),
        (_member("rules", "paper"), MANIFEST, 'rules is "paper", not "clean"'),
        (lambda folder: (folder / CHANGES).unlink(), CHANGES, "is missing"),
        (
            lambda folder: (folder / RECORDS).rename(folder / "Mine.parquet"),
            "Mine.parquet",
            "not among",
        ),
    ],
)
def test_an_edit_that_the_sources_do_not_give_is_named(
    sample_build_with_instances: Path,
    tmp_path: Path,
    tamper: Callable[[Path], None],
    file: str,
    detail: str,
) -> None:
    """With its table, its row and both values."""
    folder = copytree(sample_build_with_instances, tmp_path / "built")
    tamper(folder)
    named = [
        finding
        for finding in differences(folder, sample_build_with_instances)
        if finding.where == file and detail in finding.detail
    ]
    assert named
    assert all(finding.failure for finding in named)


def test_equal_folders_have_no_differences(sample_build_with_instances: Path) -> None:
    """A build against itself."""
    folder = sample_build_with_instances
    assert list(differences(folder, folder)) == []


@pytest.mark.slow
def test_a_build_follows_from_its_sources(
    sample_build_with_instances: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing differs, nothing stays in the cache, nothing is judged twice."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path))
    verified = verify(str(sample_build_with_instances), against_sources=True)
    assert verified.failures == ()
    assert "sources" in verified.questions
    assert "remaking" not in verified.questions
    assert list((tmp_path / "replays").iterdir()) == []


def test_other_versions_are_not_compared(sample_build: Path, tmp_path: Path) -> None:
    """Their results may differ: the versions are named, nothing is built."""
    folder = copytree(sample_build, tmp_path / "built")
    versions = json.loads((folder / MANIFEST).read_text())["versions"]
    for other, said in ((versions | {"regress": "1.0"}, "regress 1"), ({}, "no word")):
        _member("versions", other)(folder)
        with pytest.raises(Unavailable, match=f"made by {said}"):
            replay(folder, FetchSettings(cache=tmp_path), jobs=1, progress=Quiet())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pins": []}, "names no source"),
        ({"rules": "nope"}, "no rule set 'nope'"),
        ({"source": "nope"}, "no source 'nope'"),
        ({"archive": "../nope", "origin": "upstream"}, "has no pin"),
    ],
)
def test_a_manifest_that_asks_for_what_there_is_not_is_bad_data(
    sample_build: Path, tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    """One line, and nothing is built in place of it."""
    folder = copytree(sample_build, tmp_path / "built")
    members = json.loads((folder / MANIFEST).read_text())
    of_pin = {"source", "archive", "origin"} & changes.keys()
    (members["pins"][0] if of_pin else members).update(changes)
    (folder / MANIFEST).write_text(json.dumps(members))
    settings = FetchSettings(cache=tmp_path / "cache", offline=True)
    with pytest.raises(BadData, match=said):
        replay(folder, settings, jobs=1, progress=Quiet())
    assert not list(tmp_path.glob("cache/replays/*/dataset"))


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
