"""The manifest: complete, deterministic, and free of the day and the place."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from curation.core.benchmark import canary
from curation.packaging.manifest import (
    FILE,
    facts_of,
    read_facts,
    read_manifest,
    write_facts,
    write_manifest,
)
from curation.packaging.recount import recount
from curation.system.checksums import Sum
from curation.system.errors import BadData, NoInput
from tests.builds import write_build
from tests.made import entry, record, summary

if TYPE_CHECKING:
    from pathlib import Path

SUMMARY = summary([entry(record("o1"), "Snowplow")], partial=("Half is missing.",))
SUMS = {
    name: Sum(bytes=4, sha256="0" * 64)
    for name in ("b/x.parquet", "README.md", "SHA256SUMS", FILE)
}


def test_every_file_has_its_digest(tmp_path: Path) -> None:
    """All files but the manifest and the list of digests are listed, sorted."""
    write_manifest(facts_of(SUMMARY), SUMMARY.configs, SUMS, tmp_path)
    files = json.loads((tmp_path / FILE).read_text())["files"]
    assert list(files) == ["README.md", "b/x.parquet"]
    assert files["b/x.parquet"] == {"bytes": 4, "sha256": "0" * 64}


def test_written_from_itself_it_is_the_same(tmp_path: Path) -> None:
    """A manifest read back serves as the facts: the same bytes come out."""
    write_manifest(facts_of(SUMMARY), SUMMARY.configs, SUMS, tmp_path)
    first = (tmp_path / FILE).read_bytes()
    write_manifest(read_facts(tmp_path), SUMMARY.configs, SUMS, tmp_path)
    assert (tmp_path / FILE).read_bytes() == first


def test_the_facts_and_the_files_give_the_summary_back(tmp_path: Path) -> None:
    """What a build knew of itself is known again from its folder alone."""
    folder = write_build(tmp_path)
    known = recount(read_facts(folder), folder)
    write_facts(known, folder)
    assert recount(read_facts(folder), folder) == known
    assert known.of("Github_easy").kept == 2
    assert known.pins == SUMMARY.pins
    assert known.rule_notes == SUMMARY.rule_notes


def test_it_names_versions_pins_rules_and_counts(tmp_path: Path) -> None:
    """What decided the content of the build is all there."""
    write_manifest(facts_of(SUMMARY), SUMMARY.configs, SUMS, tmp_path)
    found = read_manifest(tmp_path)
    assert {"python", "csbdata", "jsonschema", "jsonschema-rs", "regress"} <= set(
        found.versions
    )
    assert found.rules == "clean"
    assert found.pins[0].archive == "corpus"
    assert found.configs["Snowplow"].kept == 1
    assert found.canary == canary()
    assert found.partial == ["Half is missing."]


def test_it_holds_no_date_and_no_place(tmp_path: Path) -> None:
    """No date, path of this machine or host stands in the manifest."""
    write_manifest(facts_of(SUMMARY), SUMMARY.configs, SUMS, tmp_path)
    text = (tmp_path / FILE).read_text()
    assert str(tmp_path) not in text
    assert not re.search(r"20\d\d-\d\d-\d\d", text)


def test_without_a_manifest_there_is_no_build(tmp_path: Path) -> None:
    """A folder without it is named: exit 66."""
    with pytest.raises(NoInput, match=re.escape(str(tmp_path))):
        read_manifest(tmp_path)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"rules": "clean"}'])
def test_what_is_no_manifest_is_refused(tmp_path: Path, content: str) -> None:
    """Broken JSON, and JSON of another kind, is bad data: exit 65."""
    (tmp_path / FILE).write_text(content)
    with pytest.raises(BadData, match=FILE):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [{"pins": [{"source": 1}]}, {"rule_list": [{}]}, {"partial": None}],
)
def test_facts_that_are_not_those_of_a_build_are_refused(
    tmp_path: Path, damage: dict[str, object]
) -> None:
    """A manifest with the right names and the wrong values is bad data: exit 65."""
    path = write_build(tmp_path) / FILE
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **damage}))
    with pytest.raises(BadData, match=FILE):
        read_facts(tmp_path)


def test_facts_alone_are_no_whole_manifest(tmp_path: Path) -> None:
    """They are read as facts; asked for figures and digests, it is bad data."""
    write_facts(SUMMARY, tmp_path)
    assert read_facts(tmp_path) == facts_of(SUMMARY)
    with pytest.raises(BadData, match="configs"):
        read_manifest(tmp_path)
