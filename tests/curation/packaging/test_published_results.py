"""A dataset's card shows the results of its own content, or that there are none."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

from curation.dataset.content_digest import content_digest
from curation.packaging import derived_files as module
from curation.packaging.card import FITS_PICTURE
from curation.packaging.derived_files import _results

if TYPE_CHECKING:
    from pathlib import Path

_RECORD = {"unique_id": "o1", "json_schema": "{}", "dialect": "2020-12", "weight": 1.0}
_INSTANCE = {
    "unique_id": "o1",
    "text": "1",
    "valid": True,
    "kind": "minimal",
    "keyword": None,
    "seed": 1,
}


def _dataset(
    folder: Path, record: dict[str, object], instance: dict[str, object]
) -> str:
    """Write a dataset of one record and one instance; return its digest."""
    for name, row in (
        ("Github_easy/train-0.parquet", {**_RECORD, **record}),
        ("instances/Github_easy/train-0.pq", {**_INSTANCE, **instance}),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame([row]).write_parquet(folder / name)
    return content_digest(folder)


@pytest.mark.parametrize(
    ("record", "instance"),
    [
        ({"unique_id": "o2"}, {}),
        ({"json_schema": "{} "}, {}),
        ({}, {"text": "2"}),
        ({}, {"valid": False}),
    ],
)
def test_the_digest_is_of_content_alone(
    tmp_path: Path, record: dict[str, object], instance: dict[str, object]
) -> None:
    """Id, schema, text and label decide it; a computed column does not."""
    first = _dataset(tmp_path, {}, {})
    assert _dataset(tmp_path, {"weight": 0.5}, {"seed": 2}) == first
    assert _dataset(tmp_path, record, instance) != first


def test_results_are_shown_for_the_content_that_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest edition of the same content is shown, and never another one's."""
    own = _dataset(tmp_path / "build", {}, {})
    for edition, content in (("2026.10", own), ("2026.11", own), ("2026.12", "other")):
        folder = tmp_path / "results" / edition
        folder.mkdir(parents=True)
        (folder / "index.json").write_text(
            json.dumps({"dataset": {"content": content, "rows": 2}})
        )
    monkeypatch.setattr(module, "results_folder", lambda: tmp_path / "results")
    assert module.published_edition(tmp_path / "build") == folder.with_name("2026.11")
    _dataset(tmp_path / "build", {"json_schema": '{"a": 1}'}, {})
    assert module.published_edition(tmp_path / "build") is None


def test_the_card_shows_what_targets_take_where_an_edition_says_it(
    tmp_path: Path,
) -> None:
    """After the table of engines, with its picture; an edition without it has one."""
    (tmp_path / "table.md").write_text("engines\n")
    assert _results(tmp_path) == "engines\n"
    (tmp_path / "fits.md").write_text("targets\n")
    assert re.fullmatch(
        rf"engines\n\ntargets\n\n!\[.*\]\({FITS_PICTURE}\)\n", _results(tmp_path)
    )
