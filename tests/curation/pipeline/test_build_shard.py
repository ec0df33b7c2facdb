"""Shards of a build: joined they give its bytes, or are refused by name."""

from __future__ import annotations

import filecmp
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from curation.dataset.difference import compare
from curation.dataset.editions import open_edition
from curation.dataset.parquet import RECORDS, file_name
from curation.pipeline.build import build
from curation.pipeline.build_shard import build_shard
from curation.pipeline.request import identity_of
from curation.pipeline.shards import (
    FILE,
    JoinedShards,
    ShardHeader,
    has_batch,
    read_header,
)
from curation.pipeline.steps import BuildSteps
from curation.system.errors import (
    BadConfiguration,
    BadData,
    CannotCreate,
    CsbdataError,
    NoInput,
)
from curation.system.progress import Quiet
from tests.curation.pipeline.test_build import request_for

if TYPE_CHECKING:
    from pathlib import Path

    from curation.pipeline.build import BuildResult

IDENTITY = identity_of("clean", [], [])
WANTED = ShardHeader(shard=(1, 1), options=(), identity=IDENTITY)


def shard_in(folder: Path, part: int, parts: int, **other: object) -> Path:
    """Write the header of a shard that came to its end, and return its folder."""
    header = ShardHeader(
        shard=(part, parts), options=(), identity=IDENTITY, documents=3
    )
    place = folder / f"{part}-of-{parts}"
    place.mkdir(exist_ok=True)
    changed = msgspec.structs.replace(header, **other)
    (place / FILE).write_bytes(msgspec.json.encode(changed))
    return place


def refusal(*folders: Path) -> CsbdataError:
    """Return why shards are not joined."""
    with pytest.raises(CsbdataError) as caught:
        JoinedShards.open(folders, WANTED)
    assert "\n" not in str(caught.value)
    return caught.value


def test_every_batch_is_one_shards_alone() -> None:
    """Over three shards each number is had once."""
    for number in range(10):
        assert sum(has_batch((part, 3), number) for part in (1, 2, 3)) == 1


def test_shards_are_put_in_order(tmp_path: Path) -> None:
    """However they are named, the first part comes first."""
    first, second = (shard_in(tmp_path, part, 2) for part in (1, 2))
    assert JoinedShards.open([second, first], WANTED).folders == (first, second)


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    """65, with the part that is not there."""
    error = refusal(shard_in(tmp_path, 1, 3), shard_in(tmp_path, 3, 3))
    assert (error.exit_code, error.what) == (65, "without shard 2/3")


def test_a_doubled_shard_is_named(tmp_path: Path) -> None:
    """65, be it a copy or the same folder again."""
    first, second = (shard_in(tmp_path, part, 2) for part in (1, 2))
    copied = tmp_path / "copy"
    shutil.copytree(first, copied)
    for again in (first, copied):
        error = refusal(first, second, again)
        assert error.exit_code == 65
        assert error.where == str(again)
        assert error.what.startswith("holds shard 1/2")


def test_shards_of_two_divisions_are_refused(tmp_path: Path) -> None:
    """65: a half and two thirds are no whole."""
    error = refusal(shard_in(tmp_path, 1, 2), shard_in(tmp_path, 2, 3))
    assert error.exit_code == 65
    assert "2, 3 parts" in error.what


def test_an_unfinished_shard_is_refused(tmp_path: Path) -> None:
    """65, and its command is to be run again."""
    error = refusal(shard_in(tmp_path, 1, 1, documents=None))
    assert isinstance(error, BadData)
    assert "has not come to its end" in error.what


def test_what_is_no_shard_is_refused(tmp_path: Path) -> None:
    """66 for any folder, 65 for a header that cannot be read."""
    assert isinstance(refusal(tmp_path), NoInput)
    (tmp_path / FILE).write_text("{")
    assert isinstance(refusal(tmp_path), BadData)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rules": "paper"}, "rules paper, not clean"),
        ({"versions": IDENTITY.versions | {"polars": "0.1"}}, "polars 0.1, not "),
        ({"code": "other"}, "other code of csbdata"),
        ({"missing": ("glaive",)}, "other sources"),
    ],
)
def test_a_shard_of_another_build_says_in_what(
    changed: dict[str, object], said: str, tmp_path: Path
) -> None:
    """78, with what differs: rules, versions, code, sources."""
    other = msgspec.structs.replace(IDENTITY, **changed)
    error = refusal(shard_in(tmp_path, 1, 1, identity=other))
    assert isinstance(error, BadConfiguration)
    assert said in error.what


def test_a_shard_with_other_options_says_so(tmp_path: Path) -> None:
    """78: a build without instances is not made of shards that have some."""
    error = refusal(shard_in(tmp_path, 1, 1, options=("instances",)))
    assert isinstance(error, BadConfiguration)
    assert "with instances, not without options" in error.what


def test_a_place_with_something_else_is_left_alone(tmp_path: Path) -> None:
    """73 for a folder of other things and for another shard."""
    request = request_for(tmp_path)
    request.out.mkdir()
    (request.out / "mine.txt").write_text("mine")
    with pytest.raises(CannotCreate, match="holds something else"):
        build_shard(request, (1, 2))
    (request.out / "mine.txt").unlink()
    header = ShardHeader(shard=(1, 2), options=(), identity=IDENTITY)
    (request.out / FILE).write_bytes(msgspec.json.encode(header))
    with pytest.raises(CannotCreate, match=r"other files of .*; shard 1/2, not 2/2"):
        build_shard(request, (2, 2))


def _files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    )


@pytest.mark.slow
def test_three_shards_joined_give_the_bytes_of_one_build(
    sample_result_with_instances: BuildResult,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of them killed on the way and run again; instances are made in the shards."""
    request = replace(request_for(tmp_path), instances=True)
    parts = [tmp_path / f"part-{part}" for part in (1, 2, 3)]
    with monkeypatch.context() as killed:
        killed.setattr(BuildSteps, "make_instances", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            build_shard(replace(request, out=parts[1]), (2, 3))
    half = read_header(parts[1])
    assert half is not None
    assert half.documents is None
    with pytest.raises(BadData, match="has not come to its end"):
        build(replace(request, shards=(parts[1],)))
    for part, folder in enumerate(parts, start=1):
        done = build_shard(replace(request, out=folder), (part, 3))
        assert not done.unchanged
        assert done.header.documents
    assert build_shard(replace(request, out=parts[0]), (1, 3)).unchanged
    # Whatever the shards lack would be made here, by workers that do not start.
    with monkeypatch.context() as joining:
        joining.setattr("curation.workers.pool.Pool._resume", _interrupted)
        joining.setattr("curation.instances.dataset.worker.Worker", _interrupted)
        joined = build(replace(request, shards=tuple(parts)), Quiet())
    whole = sample_result_with_instances.request.out
    names = _files(whole)
    assert _files(joined.request.out) == names
    _, differing, failed = filecmp.cmpfiles(
        whole, joined.request.out, names, shallow=False
    )
    assert (differing, failed) == ([], [])
    # Once more with files that are soon full, as those of a large corpus are.
    monkeypatch.setattr("curation.dataset.parquet.FULL_FILE", 10_000)
    monkeypatch.setattr(
        "curation.dataset.parquet.RECORDS", replace(RECORDS, most_rows=3)
    )
    several = build(replace(request, shards=tuple(parts), out=tmp_path / "several"))
    assert (several.request.out / file_name("Github_easy", "train", 1, 2)).is_file()
    assert (
        compare(*(open_edition(str(out)) for out in (whole, tmp_path / "several")))
        == []
    )


def _interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_a_damaged_batch_is_never_joined(tmp_path: Path) -> None:
    """65 names the shard; its command, run again, mends it."""
    request = request_for(tmp_path)
    part = tmp_path / "part"
    build_shard(replace(request, out=part), (1, 1))
    (batch,) = part.glob("completions/*/batch-00000")
    batch.write_bytes(batch.read_bytes()[:-1] + b" ")
    with pytest.raises(BadData, match="batch-00000 is missing or damaged"):
        build(replace(request, shards=(part,)))
    build_shard(replace(request, out=part), (1, 1))
    assert not build(replace(request, shards=(part,))).unchanged
