"""Runs are joined only where their figures mean something together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.system.errors import BadConfiguration, BadData, CannotCreate, NoInput
from evaluation.results.merging import SAME, merge, missing_shards
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import HEAD, many, row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson

_ENGINES = [{"engine": "alpha 1.0", "name": "alpha", "version": "1.0", "options": {}}]
_WHOLE: dict[str, UntypedJson] = {
    **HEAD,
    "engines": _ENGINES,
    "code": "c0ffee",
    "data": {"name": "x", "sha256": "1"},
    "tokenizer": {"name": "t", "sha256": "2"},
    "limits": {"compile_seconds": 40},
    "settings": {"seed": 0},
    "limit": None,
    "machine": {"cores": 2},
    "shard": "1/1",
}


def test_shards_make_the_whole(tmp_path: Path) -> None:
    """Every unit of each shard once, in one file, under one header."""
    rows = many("alpha 1.0", 30)
    for part in (1, 2, 3):
        head = {**_WHOLE, "shard": f"{part}/3"}
        write_run(tmp_path / str(part), rows[part - 1 :: 3], head)
    run = merge([tmp_path / str(part) for part in (1, 2, 3)], tmp_path / "out")
    assert sorted(each.id for each in run.rows()) == sorted(each.id for each in rows)
    assert {each.id: each for each in run.rows()} == {each.id: each for each in rows}
    assert run.raw_header["shard"] == "1/1"
    assert [each["shard"] for each in run.raw_header["merged"]] == ["1/3", "2/3", "3/3"]


def test_runs_of_other_engines_stand_beside_each_other(tmp_path: Path) -> None:
    """Two engines measured in the same way make one run."""
    other = [{"engine": "beta 2.0", "name": "beta"}]
    write_run(tmp_path / "a", [row()], _WHOLE)
    write_run(tmp_path / "b", [row(engine="beta 2.0")], {**_WHOLE, "engines": other})
    run = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    assert [each["engine"] for each in run.raw_header["engines"]] == [
        "alpha 1.0",
        "beta 2.0",
    ]
    assert len(run) == 2


@pytest.mark.parametrize("part", SAME)
def test_what_was_made_otherwise_is_refused(part: str, tmp_path: Path) -> None:
    """The fault is one line and names the part, what it is, and what it should be."""
    write_run(tmp_path / "a", [row()], _WHOLE)
    write_run(tmp_path / "b", [row(id="o2")], {**_WHOLE, part: {"other": "thing"}})
    with pytest.raises(BadConfiguration) as caught:
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    text = str(caught.value)
    assert SAME[part] in text
    assert "thing" in text
    assert "\n" not in text
    assert not (tmp_path / "out").exists()


def test_an_engine_with_other_options_is_refused(tmp_path: Path) -> None:
    """One label cannot stand for two ways of running an engine."""
    other = [{**_ENGINES[0], "options": {"strict": True}}]
    write_run(tmp_path / "a", [row()], _WHOLE)
    write_run(tmp_path / "b", [row(id="o2")], {**_WHOLE, "engines": other})
    with pytest.raises(BadConfiguration, match=r"another alpha 1\.0.*options"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")


def test_the_same_unit_twice_must_be_the_same(tmp_path: Path) -> None:
    """Equal fingerprints count once; different ones are refused."""
    for name, fingerprint in (("a", "1"), ("b", "1"), ("c", "2")):
        write_run(tmp_path / name, [row(fingerprint=fingerprint)], _WHOLE)
    assert len(merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")) == 1
    with pytest.raises(BadData, match=r"another result of alpha 1\.0/masks"):
        merge([tmp_path / "a", tmp_path / "c"], tmp_path / "other")
    assert not list((tmp_path / "other").glob("units-*"))


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """A folder that holds something stays as it is."""
    write_run(tmp_path / "a", [row()], _WHOLE)
    with pytest.raises(CannotCreate, match="already"):
        merge([tmp_path / "a"], tmp_path / "a")
    with pytest.raises(NoInput):
        merge([tmp_path / "gone"], tmp_path / "out")


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    """Of 3 parts two were given; a whole run lacks nothing."""
    write_run(tmp_path / "a", [], {**_WHOLE, "shard": "1/3"})
    write_run(tmp_path / "b", [], {**_WHOLE, "shard": "3/3"})
    write_run(tmp_path / "c", [], _WHOLE)
    shards = [open_run(tmp_path / name) for name in ("a", "b")]
    assert missing_shards(shards) == ["2/3"]
    assert missing_shards([open_run(tmp_path / "c")]) == []
