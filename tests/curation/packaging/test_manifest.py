"""The manifest: complete, deterministic, and free of the day and the place."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

import pytest

from curation.packaging.manifest import FILE, manifest, write_manifest
from tests.made import entry, record, summary

if TYPE_CHECKING:
    from pathlib import Path

SUMMARY = summary([entry(record("o1"), "Snowplow")])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two files in it."""
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.parquet").write_bytes(b"rows")
    (tmp_path / "README.md").write_bytes(b"card")
    return tmp_path


def test_every_file_has_its_digest(folder: Path) -> None:
    """All files but the manifest are listed, sorted, with size and sha256."""
    write_manifest(SUMMARY, folder)
    write_manifest(SUMMARY, folder)
    files = json.loads((folder / FILE).read_text())["files"]
    assert list(files) == ["README.md", "b/x.parquet"]
    digest = hashlib.sha256(b"rows").hexdigest()
    assert files["b/x.parquet"] == {"bytes": 4, "sha256": digest}


def test_the_same_folder_gives_the_same_bytes(folder: Path) -> None:
    """Nothing in the manifest depends on when it is written."""
    write_manifest(SUMMARY, folder)
    first = (folder / FILE).read_bytes()
    write_manifest(SUMMARY, folder)
    assert (folder / FILE).read_bytes() == first


def test_it_names_versions_pins_rules_and_counts(folder: Path) -> None:
    """What decided the content of the build is all there."""
    found = manifest(SUMMARY, folder)
    assert {"python", "csbdata", "jsonschema", "jsonschema-rs", "regress"} <= set(
        found["versions"]
    )
    assert found["rules"] == "clean"
    assert found["pins"][0]["archive"] == "corpus"
    assert found["configs"]["Snowplow"]["kept"] == 1


def test_it_holds_no_date_and_no_place(folder: Path) -> None:
    """No date, path of this machine or host stands in the manifest."""
    text = json.dumps(manifest(SUMMARY, folder))
    assert str(folder) not in text
    assert not re.search(r"20\d\d-\d\d-\d\dT", text)
