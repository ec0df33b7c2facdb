"""A request in shards: each a run of its own, together the run that was not divided."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadUsage, CannotCreate
from curation.workers.ray_shards import Shard
from evaluation.asking import shards
from evaluation.asking.request import ModelOptions, RunRequest, choose_suite
from evaluation.asking.run import run, score_file
from evaluation.asking.shards import PlainRequest, run_shard
from evaluation.core.records import Record, encode_records
from evaluation.results.merging import join_shards
from evaluation.results.reader import open_run
from tests.evaluation.measuring import miniature, request_of, sample
from tests.evaluation.servers.loopback import answer, loopback

if TYPE_CHECKING:
    from pathlib import Path

_SCHEMA = json.dumps({"type": "object", "required": ["n"]})


def _request(folder: Path, base: str) -> RunRequest:
    data = folder / "made.jsonl"
    records = [Record(id=f"r{n}", group="g", schema=_SCHEMA) for n in range(8)]
    data.write_bytes(encode_records(records))
    return RunRequest(
        suite=choose_suite("passrate", {"mode": "schema"}),
        data=data,
        models=(ModelOptions(model=f"{base}#small"),),
        jobs=1,
        run_dir=folder / "whole",
        fetch=FetchSettings(cache=folder / "cache"),
    )


def test_shards_of_a_suite_join_to_the_whole(tmp_path: Path) -> None:
    """Rows, records and responses; a request comes to another process as it was."""
    with loopback(lambda _body, _number: answer('{"n": 1}')) as server:
        request = _request(tmp_path, server.base)
        whole = run(request).open()
        folders = []
        for part in (1, 2):
            folders.append(tmp_path / f"part-{part}")
            folders[-1].mkdir()
            plain = pickle.loads(pickle.dumps(PlainRequest.of(request)))  # noqa: S301 (our own bytes)
            run_shard(run, plain, Shard(part=part, parts=2, folder=folders[-1], cpus=1))
    joined = join_shards(folders, tmp_path / "joined", request="mark")
    assert joined.raw_header["request"] == "mark"
    assert joined.row_counts == whole.row_counts
    assert joined.raw_header["plan"] == whole.raw_header["plan"]
    assert joined.raw_header["suite"]["records"] == 8
    again = score_file(replace(request, run_dir=None), joined.folder)
    assert again.problems == ()
    assert open_run(again.folder).row_counts == whole.row_counts


def test_what_cannot_be_divided_is_refused(tmp_path: Path) -> None:
    """A shard is not divided again, and a server spreads its work itself."""
    with loopback(lambda _body, _number: answer("{}")) as server:
        request = _request(tmp_path, server.base)
        with pytest.raises(BadUsage, match="asks no server"):
            run(replace(request, executor="ray"))
        with pytest.raises(BadUsage, match="not divided again"):
            run(replace(request, shard=(1, 2), executor="ray"))


def _in_turn(function: Any, request: Any, *, folder: Path, **_: Any) -> list[Path]:  # noqa: ANN401 - as Ray's
    """Work on two shards here, as `run_shards` has a cluster do."""
    folders = [folder / "1", folder / "2"]
    for part, place in enumerate(folders, start=1):
        place.mkdir()
        function(request, Shard(part=part, parts=2, folder=place, cpus=1))
    return folders


def test_merged_shards_are_the_run_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows in one folder; a second call finds them, another one is refused."""
    monkeypatch.setattr(shards, "run_shards", _in_turn)
    request = _masks(tmp_path)
    result = run(replace(request, executor="ray"))
    here = run(replace(request, run_dir=tmp_path / "here")).open()
    assert result.open().row_counts == here.row_counts
    assert not (tmp_path / "run.shards").exists()
    assert run(replace(request, executor="ray")).totals.reused == 6
    with pytest.raises(CannotCreate, match="another run"):
        run(replace(request, only=["s1"], executor="ray"))


@pytest.mark.nightly
def test_a_cluster_works_on_the_shards(tmp_path: Path) -> None:
    """A cluster that is started here; it needs a machine that is not busy."""
    result = run(replace(_masks(tmp_path), executor="ray"))
    assert sum(result.open().row_counts.values()) == 6


def _masks(folder: Path) -> RunRequest:
    return request_of(
        folder,
        [sample(f"s{n}", "[1]") for n in range(6)],
        engines=[miniature("accept_all")],
        run_dir=folder / "run",
    )
