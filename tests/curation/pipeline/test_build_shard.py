"""Shards of a build: joined they give its bytes."""

from __future__ import annotations

import filecmp
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.dataset.difference import compare
from curation.dataset.editions import open_edition
from curation.dataset.parquet import RECORDS, file_name
from curation.pipeline import build as module
from curation.pipeline.build import build, build_shard
from curation.pipeline.shards import has_batch
from curation.system.errors import BadConfiguration
from curation.system.progress import Quiet
from curation.workers.ray_shards import Shard
from tests.curation.pipeline.test_build import request_for

if TYPE_CHECKING:
    from pathlib import Path

    from curation.pipeline.build import BuildResult
    from curation.pipeline.request import BuildRequest


def test_every_batch_is_one_shards_alone() -> None:
    """Over three shards each number is had once."""
    for number in range(10):
        assert sum(has_batch((part, 3), number) for part in (1, 2, 3)) == 1


def test_a_node_with_other_files_is_refused(tmp_path: Path) -> None:
    """78: what it would make is of another build."""
    shard = Shard(part=1, parts=2, folder=tmp_path, cpus=1)
    with pytest.raises(BadConfiguration, match="reads other files than the driver"):
        build_shard((request_for(tmp_path), "0"), shard)


def _files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    )


def _here(folder: Path, worked: list[int]) -> object:
    """Return what works on three shards here, as `run_shards` has a cluster do."""

    def run(
        function: object, asked: tuple[BuildRequest, str], **_: object
    ) -> list[Path]:
        places = [folder / f"part-{part}" for part in (1, 2, 3)]
        for part, place in enumerate(places, start=1):
            if not place.exists():
                place.mkdir()
                worked.append(part)
                shard = Shard(part=part, parts=3, folder=place, cpus=1)
                build_shard(asked, shard)
        return places

    return run


@pytest.mark.slow
def test_three_shards_joined_give_the_bytes_of_one_build(
    sample_result: BuildResult,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Instances are made in the shards; where files are soon full, rows are equal."""
    worked: list[int] = []
    monkeypatch.setattr(module, "run_shards", _here(tmp_path, worked))
    request = replace(request_for(tmp_path), instances=True, executor="ray")
    build(replace(request, out=tmp_path / "first"), Quiet())
    # Whatever the shards lack would be made here, by workers that do not start.
    with monkeypatch.context() as joining:
        joining.setattr("curation.workers.pool.Pool._resume", _interrupted)
        joining.setattr("curation.instances.dataset.worker.Worker", _interrupted)
        joined = build(request, Quiet())
    assert worked == [1, 2, 3]
    whole = sample_result.request.out
    names = _files(whole)
    assert _files(joined.request.out) == names
    _, differing, failed = filecmp.cmpfiles(
        whole, joined.request.out, names, shallow=False
    )
    assert (differing, failed) == ([], [])
    monkeypatch.setattr("curation.dataset.parquet.FULL_FILE", 10_000)
    monkeypatch.setattr(
        "curation.dataset.parquet.RECORDS", replace(RECORDS, most_rows=3)
    )
    several = build(replace(request, out=tmp_path / "several"))
    assert (several.request.out / file_name("Github_easy", "train", 1, 2)).is_file()
    assert (
        compare(*(open_edition(str(out)) for out in (whole, tmp_path / "several")))
        == []
    )


def _interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
