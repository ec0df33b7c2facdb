"""Which version follows from which change, and what the changelog says of it."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

from curation.core import benchmark
from curation.packaging.manifest import read_manifest
from curation.publish import release as module
from curation.publish.dataset_diff import DatasetFolder, Level, compare_folders
from curation.publish.release import last_release, next_release, write_release
from curation.system.checksums import file_digest, names_in
from curation.system.errors import BadConfiguration, BadData, NoInput
from tests.builds import KEPT_ROWS, write_build
from tests.made import record
from tests.publishing import NAME, connected, contents

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.core.records import BenchmarkRecord
    from curation.publish.release import Release


def _stated(folder: Path, version: str) -> Path:
    """Write a version into a manifest without drawing plots again."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes()) | {"data_version": version}
    path.write_text(json.dumps(manifest))
    return folder


def _digested(folder: Path) -> Path:
    """List the digests of all tables in a manifest."""
    path = folder / "manifest.json"
    names = sorted(each for each in names_in(folder) if each.endswith(".parquet"))
    files = {
        name: {
            "bytes": (folder / name).stat().st_size,
            "sha256": file_digest(folder / name),
        }
        for name in names
    }
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"files": files}))
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that was released as 2.0.0."""
    return _stated(write_build(tmp_path_factory.mktemp("base") / "x"), "2.0.0")


def _against(base: Path, folder: Path) -> Release:
    with last_release(str(base)) as last:
        return next_release(folder, last, allow_partial=True)


def _rows(
    change: Callable[[BenchmarkRecord], BenchmarkRecord],
) -> list[tuple[str, BenchmarkRecord]]:
    (config, first), *rest = KEPT_ROWS
    return [(config, change(first)), *rest]


def test_the_first_release_is_the_first_of_its_major_version(tmp_path: Path) -> None:
    """Nothing was released before: 2.0.0, and the changelog says so."""
    found = next_release(write_build(tmp_path / "x"), None, allow_partial=True)
    assert str(found.version) == f"{benchmark.MAJOR}.0.0"
    assert "The first release: 4 records." in found.changelog


def test_a_build_against_itself_is_nothing_to_release(
    base: Path, tmp_path: Path
) -> None:
    """Built again from the same, whatever version it says of itself."""
    again = _stated(shutil.copytree(base, tmp_path / "x"), "2.0.0-dev")
    found = _against(base, again)
    assert found.level is Level.NONE
    assert str(found.version) == "2.0.0"


def test_more_records_make_a_minor_version(base: Path, tmp_path: Path) -> None:
    """The new ones are named."""
    rows = [*KEPT_ROWS, ("Snowplow", record("sp_new"))]
    found = _against(base, write_build(tmp_path / "x", rows))
    assert (found.level, str(found.version)) == (Level.MINOR, "2.1.0")
    assert "sp_new" in found.changelog
    assert "Added (1):" in found.changelog


def test_other_columns_make_a_patch(base: Path, tmp_path: Path) -> None:
    """Every schema is as it was, what is said of one is not."""
    rows = _rows(lambda each: replace(each, field_count=each.field_count + 1))
    before = _digested(shutil.copytree(base, tmp_path / "old"))
    found = _against(before, _digested(write_build(tmp_path / "x", rows)))
    assert (found.level, str(found.version)) == (Level.PATCH, "2.0.1")


@pytest.mark.parametrize(
    ("name", "version", "level"),
    [
        ("LICENSE", "2.0.0-dev", Level.PATCH),
        ("NOTES.md", "2.0.0", Level.PATCH),
        ("README.md", "2.0.0", Level.PATCH),
        # It says the version, and so differs in any case.
        ("README.md", "2.0.0-dev", Level.NONE),
        ("CHANGELOG.md", "2.0.0", Level.NONE),
    ],
)
def test_another_file_makes_a_patch(
    name: str, version: str, level: Level, base: Path, tmp_path: Path
) -> None:
    """What `csbdata push` would refuse to put under the old tag gets a version."""
    before = _digested(shutil.copytree(base, tmp_path / "old"))
    after = _stated(shutil.copytree(before, tmp_path / "x"), version)
    path = after / "manifest.json"
    manifest = json.loads(path.read_bytes())
    manifest["files"][name] = {"bytes": 1, "sha256": "another"}
    path.write_text(json.dumps(manifest))
    assert _against(before, after).level is level


@pytest.mark.parametrize("what", ["gone", "renamed", "changed", "textual", "moved"])
def test_what_breaks_readers_needs_a_major_version(
    what: str, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused for a folder that was built for another one: exit code 78."""
    rows = {
        "gone": KEPT_ROWS[1:],
        "renamed": _rows(lambda each: replace(each, unique_id="other")),
        "changed": _rows(lambda each: replace(each, json_schema='{"type": "null"}')),
        "textual": _rows(
            lambda each: replace(each, json_schema=" " + each.json_schema)
        ),
        "moved": [("Github_hard", KEPT_ROWS[0][1]), *KEPT_ROWS[1:]],
    }[what]
    with pytest.raises(BadConfiguration, match=r"version 3\.0\.0"):
        _against(base, write_build(tmp_path / "x", rows))
    monkeypatch.setattr(benchmark, "MAJOR", 3)
    monkeypatch.setattr(benchmark.canary, "__defaults__", (3,))
    monkeypatch.setattr(module, "MAJOR", 3)
    found = _against(base, write_build(tmp_path / "y", rows))
    assert (found.level, str(found.version)) == (Level.MAJOR, "3.0.0")


def _with_instances(folder: Path, rows: list[tuple[str, int, str, bool]]) -> Path:
    (folder / "instances/Snowplow").mkdir(parents=True)
    names = ["unique_id", "number", "text", "valid"]
    table = pl.DataFrame(rows, schema=names, orient="row")
    table.write_parquet(folder / "instances/Snowplow/test-00000-of-00001.pq")
    return folder


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        ([], [("a", 0, "1", True)], Level.MINOR),
        ([("a", 0, "1", True)], [("a", 0, "1", True)], Level.NONE),
        ([("a", 0, "1", True)], [("a", 0, "1", False)], Level.MAJOR),
        ([("a", 0, "1", True)], [("a", 0, "2", True)], Level.MAJOR),
        ([("a", 0, "1", True)], [("a", 1, "1", True)], Level.MAJOR),
        (
            [("a", 0, "1", True)],
            [("a", 0, "1", True), ("a", 1, "", False)],
            Level.MINOR,
        ),
    ],
)
def test_instances_count_as_records_do(
    before: list[tuple[str, int, str, bool]],
    after: list[tuple[str, int, str, bool]],
    level: Level,
    base: Path,
    tmp_path: Path,
) -> None:
    """Added is minor, gone or changed is major."""
    folders = [
        _with_instances(shutil.copytree(base, tmp_path / name), rows)
        if rows
        else shutil.copytree(base, tmp_path / name)
        for name, rows in (("one", before), ("two", after))
    ]
    sides = [
        DatasetFolder(folder=each, manifest=read_manifest(each)) for each in folders
    ]
    assert compare_folders(*sides).level is level


def test_a_folder_may_be_called_like_a_pattern(base: Path, tmp_path: Path) -> None:
    """Brackets in a path are letters: the instances of that folder are compared."""
    one, two = (
        _with_instances(shutil.copytree(base, tmp_path / name), [("a", 0, "1", True)])
        for name in ("o[u]t", "b[a]ck")
    )
    sides = [
        DatasetFolder(folder=each, manifest=read_manifest(each)) for each in (one, two)
    ]
    assert compare_folders(*sides).level is Level.NONE


def test_the_published_edition_counts_as_one(tmp_path: Path) -> None:
    """Without a manifest of ours: 1.0.0, so that ours is 2.0.0."""
    published = write_build(tmp_path / "published")
    (published / "manifest.json").unlink()
    found = _against(published, write_build(tmp_path / "x", KEPT_ROWS[1:]))
    assert (str(found.previous), str(found.version)) == ("1.0.0", "2.0.0")
    assert "the edition published with the paper" in found.changelog


def test_a_version_that_was_never_released_is_none_to_compare_with(
    tmp_path: Path,
) -> None:
    """Exit code 65, with what to do."""
    folder = _stated(write_build(tmp_path / "x"), "2.0.0-dev")
    with pytest.raises(BadData, match="never released"), last_release(str(folder)):
        pass


def test_on_the_hub_the_highest_version_tag_is_the_last_release(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2.10.0 is above 2.9.0; other tags and what stands on main do not count."""
    held = contents(base)
    with connected(monkeypatch, tmp_path / "home") as there:
        tags = {}
        stated_before = json.loads(held["manifest.json"])
        for version in ("2.9.0", "2.10.0", "2.11.0-dev"):
            stated = json.dumps({**stated_before, "data_version": version})
            files = {**held, "manifest.json": stated.encode()}
            tags[f"v{version}"] = there.hub.store.put(NAME, files)
        there.hub.repository(NAME).tags.update(tags, other=tags["v2.11.0-dev"])
        with last_release(NAME) as last:
            assert str(last.version) == "2.10.0"
            found = next_release(base, last, allow_partial=True)
            assert found.level is Level.NONE
        with last_release(f"hf://datasets/{NAME}@v2.9.0") as last:
            assert str(last.version) == "2.9.0"
        with pytest.raises(BadData), last_release(f"{NAME}@main"):
            pass


@pytest.mark.parametrize("where", ["/no/such", "no", "a/b/c"])
def test_what_is_no_place_is_said(where: str) -> None:
    """Exit code 66; nobody is asked."""
    with pytest.raises(NoInput), last_release(where):
        pass


def test_a_partial_build_has_no_version(base: Path, tmp_path: Path) -> None:
    """Unless that is what is wanted: exit code 65."""
    path = shutil.copytree(base, tmp_path / "x") / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"partial": ["Less."]}))
    with pytest.raises(BadData, match="partial"):
        next_release(path.parent, None)


def test_released_it_says_its_version_everywhere(base: Path, tmp_path: Path) -> None:
    """The manifest, the card and the changelog; asked again, it is the same one."""
    rows = [*KEPT_ROWS, ("Snowplow", record("sp_new"))]
    folder = write_build(tmp_path / "x", rows)
    (base / "CHANGELOG.md").write_text("# Old\n\nIntro.\n\n## 2.0.0\n\nThe first.\n")
    try:
        found = _against(base, folder)
        write_release(found)
        again = _against(base, folder)
    finally:
        (base / "CHANGELOG.md").unlink()
    assert (again.version, again.changelog) == (found.version, found.changelog)
    manifest = read_manifest(folder)
    assert manifest.data_version == "2.1.0"
    assert "CHANGELOG.md" in manifest.files
    assert "2.1.0" in (folder / "README.md").read_text()
    log = (folder / "CHANGELOG.md").read_text()
    assert log.index("## 2.1.0") < log.index("## 2.0.0\n\nThe first.\n")
    assert log.count("# Changelog") == 1


@pytest.mark.slow
def test_the_month_is_a_label_beside_the_version(tmp_path: Path) -> None:
    """Changelog and card say it; neither version nor first release hangs on it."""
    folder = write_build(tmp_path / "x")
    plain = next_release(folder, None, allow_partial=True)
    found = next_release(folder, None, allow_partial=True, released="2026-11-22")
    assert found.version == plain.version
    assert found.changelog == plain.changelog.replace("2.0.0\n", "2.0.0 (2026-11)\n")
    write_release(found)
    assert "the release of 2026-11" in (folder / "README.md").read_text()
    again = next_release(folder, None, allow_partial=True)
    assert again.changelog == plain.changelog


def test_a_first_release_replaces_no_changelog(tmp_path: Path) -> None:
    """Where earlier releases are told, the last has to be named: exit code 78."""
    folder = write_build(tmp_path / "x")
    found = next_release(folder, None, allow_partial=True)
    (folder / "CHANGELOG.md").write_text(found.changelog)
    again = next_release(folder, None, allow_partial=True)
    assert again.changelog == found.changelog
    (folder / "CHANGELOG.md").write_text("# Changelog\n\n## 1.0.0\n")
    with pytest.raises(BadConfiguration, match="--against"):
        next_release(folder, None, allow_partial=True)


@pytest.mark.parametrize("first", [True, False])
def test_a_changelog_that_is_no_text_is_named(
    *, first: bool, base: Path, tmp_path: Path
) -> None:
    """That of the folder or of the last release, in Latin-1: exit code 65."""
    folder = shutil.copytree(base, tmp_path / "x")
    (folder / "CHANGELOG.md").write_bytes(b"# caf\xe9\n")
    with (
        pytest.raises(BadData, match=r"CHANGELOG\.md: byte 5 is not UTF-8"),
        nullcontext() if first else last_release(str(folder)) as last,
    ):
        next_release(folder, last, allow_partial=True)


def test_f47_ids_are_nothing_but_text_in_the_changelog(
    base: Path, tmp_path: Path
) -> None:
    """Markdown, HTML and control characters of an id stay inside a code span."""
    evil = "a`](http://x.test)<script>\x1b[31m|=1+1"
    rows = [*KEPT_ROWS, ("Snowplow", record(evil))]
    log = _against(base, write_build(tmp_path / "x", rows)).changelog
    assert "\x1b" not in log
    (line,) = [each for each in log.splitlines() if "script" in each]
    assert line.startswith("- `` ")
    assert line.endswith(" ``")
