"""Reading the official test suite: a miniature of it, and the pinned one itself."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Origin
from curation.download.acquire import Acquired, FetchSettings, UnavailableArchive
from curation.download.packs import write_pack
from curation.download.pins import load_pins
from curation.schema.dialects import BY_NAME, DIALECTS
from curation.system.errors import BadConfiguration, BadData, Unavailable
from curation.system.package_data import raw_folder
from evaluation.tasks.official_suite import task as suites
from evaluation.tasks.official_suite.task import (
    acquire_suite,
    needs_remote,
    read_suite_cases,
)

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.download.pins import ArchivePin


def suite_case(
    schema: UntypedJson, *tests: tuple[UntypedJson, bool], description: str = ""
) -> UntypedJson:
    """Return a case as the suite's files have it."""
    return {
        "description": description,
        "schema": schema,
        "tests": [
            {"description": "", "data": data, "valid": valid} for data, valid in tests
        ],
    }


def miniature(folder: Path, files: dict[str, UntypedJson]) -> Acquired:
    """Return a suite of these files, by path below `tests/`."""
    packed = [
        (f"tests/{path}", json.dumps(each).encode()) for path, each in files.items()
    ]
    pack = write_pack(folder, "miniature", packed)
    return Acquired(
        archive="mini",
        pack=pack,
        origin=Origin.INDEX,
        route="cache",
        commit="1",
        digest=pack.stem,
        licence="MIT",
    )


def test_cases_come_by_category_and_place(tmp_path: Path) -> None:
    """Mandatory ones alone, or the optional ones alone, of one draft."""
    suite = miniature(
        tmp_path,
        {
            "draft7/type.json": [
                suite_case({"$id": "x"}, (1, True)),
                suite_case({}, (1, True)),
            ],
            "draft7/const.json": [suite_case({"const": 1}, (1, True), (2, False))],
            "draft7/optional/format/date.json": [suite_case({}, ("", True))],
            "draft4/type.json": [suite_case({}, (1, True))],
        },
    )
    assert [each.id for each in read_suite_cases(suite, "7")] == [
        "const/0",
        "type/0",
        "type/1",
    ]
    (optional,) = read_suite_cases(suite, "draft-07", optional=True)
    assert (optional.category, optional.optional) == ("optional/format/date", True)


@pytest.mark.parametrize(
    "listed", [{}, [1], [{"description": ""}], [suite_case(1) | {"tests": 3}]]
)
def test_a_file_that_is_none_of_the_suites_is_named(
    listed: UntypedJson, tmp_path: Path
) -> None:
    """Exit code 65."""
    suite = miniature(tmp_path, {"draft7/type.json": listed or [[]]})
    with pytest.raises(BadData, match="draft7/type"):
        list(read_suite_cases(suite, "7"))


def test_a_draft_that_the_suite_has_not_is_named(tmp_path: Path) -> None:
    """With those that it has."""
    with pytest.raises(BadConfiguration, match="2020-12"):
        list(read_suite_cases(miniature(tmp_path, {}), "3"))


@pytest.mark.parametrize(
    ("schema", "remote"),
    [
        (True, False),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, False),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, False),
        ({"$ref": "http://localhost:1234/integer.json"}, True),
        ({"$id": "http://localhost:1234/a.json", "$ref": "b.json"}, True),
        ({"$id": "http://localhost:1234/a.json", "$ref": "a.json#/$defs/x"}, False),
        (
            {
                "$id": "http://localhost:1234/a.json",
                "$ref": "b.json",
                "$defs": {"b": {"$id": "b.json"}},
            },
            False,
        ),
        ({"$dynamicRef": "http://localhost:1234/tree.json"}, True),
        ({"$schema": "http://localhost:1234/draft2020-12/meta.json"}, True),
        ({"const": {"$ref": "http://localhost:1234/integer.json"}}, False),
    ],
)
def test_what_needs_the_suites_server_is_told(
    schema: UntypedJson,
    remote: bool,  # noqa: FBT001 (a case)
) -> None:
    """Only references that the schema does not answer itself."""
    assert needs_remote(schema, BY_NAME["2020-12"]) is remote


def test_a_suite_that_cannot_be_had_says_why_for_each_archive(tmp_path: Path) -> None:
    """And where to put it: exit code 69."""
    offline = FetchSettings(cache=tmp_path, offline=True)
    with pytest.raises(Unavailable) as caught:
        acquire_suite(offline)
    assert str(caught.value).count("neither mirrored nor cached") == 2
    assert "CSBDATA_MIRROR" in str(caught.value)


def test_what_is_at_hand_comes_before_what_must_be_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second archive in the cache, rather than the first from the network."""
    first, second = load_pins(raw_folder() / "test_suite.toml").values()
    asked = []

    def acquired(pin: ArchivePin, settings: FetchSettings, _say: object) -> object:
        asked.append((pin.name, settings.offline))
        if pin.name == first.name:
            return UnavailableArchive(
                archive=pin.name, why="not here", publisher="GitHub"
            )
        return Acquired(
            archive=pin.name,
            pack=tmp_path,
            origin=Origin.INDEX,
            route="cache",
            commit=pin.commit,
            digest=pin.digest,
            licence=pin.licence,
        )

    monkeypatch.setattr(suites, "acquire", acquired)
    suite = acquire_suite(FetchSettings(mirror=None, cache=tmp_path))
    assert (suite.archive, suite.route) == (second.name, "cache")
    assert asked == [(first.name, True), (second.name, True)]


@pytest.mark.skipif("CSBDATA_MIRROR" not in os.environ, reason="needs CSBDATA_MIRROR")
def test_the_papers_43_categories_are_what_is_left_of_2020_12(tmp_path: Path) -> None:
    """46 files, less `format`, less `refRemote` and `vocabulary`, all of it remote."""
    suite = acquire_suite(
        replace(FetchSettings.from_environment(offline=True), cache=tmp_path)
    )
    assert suite.route == "mirror"
    listed = list(read_suite_cases(suite, "2020-12"))
    kept = {each.category for each in listed if not each.remote}
    assert len({each.category for each in listed}) == 46
    assert {each.category for each in listed} - kept == {"refRemote", "vocabulary"}
    assert len(kept - {"format"}) == 43


@pytest.mark.skipif("CSBDATA_MIRROR" not in os.environ, reason="needs CSBDATA_MIRROR")
@pytest.mark.parametrize("draft", [dialect.name for dialect in DIALECTS])
def test_every_draft_can_be_read(draft: str, tmp_path: Path) -> None:
    """Mandatory cases and optional ones, every id once."""
    suite = acquire_suite(
        replace(FetchSettings.from_environment(offline=True), cache=tmp_path)
    )
    ids = [
        each.id
        for optional in (False, True)
        for each in read_suite_cases(suite, draft, optional=optional)
    ]
    assert len(ids) > 180
    assert len(set(ids)) == len(ids)
