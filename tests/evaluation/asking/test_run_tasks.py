"""`csbdata.run`: from a request to a folder of rows, in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import csbdata
from curation.system.errors import CannotCreate, Unavailable
from curation.system.terminal import command_line_of
from tests.evaluation.measuring import miniature, request_of, sample

if TYPE_CHECKING:
    from pathlib import Path

_SAMPLES = [sample("one", "{}"), sample("two", "[1]"), sample("three", "7")]


def _request(folder: Path, **fields: object) -> csbdata.RunRequest:
    return request_of(
        folder,
        _SAMPLES,
        engines=[miniature("accept_all")],
        run_dir=folder / "run",
        **fields,
    )


def test_samples_are_handed_in_and_rows_come_back(tmp_path: Path) -> None:
    """No file has to be written first; the header says that they were given."""
    result = csbdata.run(_request(tmp_path))
    recorded = result.open()
    assert result.totals.ran == 3
    assert [row.id for row in recorded.rows()] == ["one", "three", "two"]
    assert recorded.raw_header["data"]["name"] == "given"
    assert recorded.raw_header["data"]["schemas"] == 3


def test_only_csbdata_s_own_command_line_is_in_the_header(tmp_path: Path) -> None:
    """What a program was called with, that calls `run`, asks csbdata for nothing."""
    request = _request(tmp_path)
    assert csbdata.run(request).open().header.command == ()
    with command_line_of(["eval", "--task", "masks"]):
        typed = csbdata.run(replace(request, run_dir=tmp_path / "typed")).open()
    assert typed.header.command == ("csbdata", "eval", "--task", "masks")


def test_the_same_request_continues_its_run(tmp_path: Path) -> None:
    """Nothing is measured twice; other samples are another run."""
    request = _request(tmp_path)
    csbdata.run(request)
    assert csbdata.run(request).totals.reused == 3
    with pytest.raises(CannotCreate, match=r"another run: data \(another content"):
        csbdata.run(replace(request, data=_SAMPLES[:2]))


@pytest.mark.parametrize(
    ("fields", "ids"),
    [
        ({"only": ["two"]}, ["two"]),
        ({"only": ["Made/one"]}, ["one"]),
        ({"configs": ["Other"]}, []),
    ],
)
def test_samples_are_chosen_as_those_of_a_file_are(
    tmp_path: Path, fields: dict[str, object], ids: list[str]
) -> None:
    """By id or config."""
    rows = csbdata.run(_request(tmp_path, **fields)).open().rows()
    assert [row.id for row in rows] == ids


def test_a_run_says_at_its_start_how_much_is_asked(tmp_path: Path) -> None:
    """Whoever reads a run that was killed learns how much of it there is."""
    whole = csbdata.run(_request(tmp_path)).open().header
    assert whole.rows == 3
    one = replace(_request(tmp_path, only=["two"]), run_dir=tmp_path / "one")
    assert csbdata.run(one).open().header.rows == 1


def test_a_limit_draws_of_the_samples(tmp_path: Path) -> None:
    """The same ones every time."""
    first = csbdata.run(_request(tmp_path / "a", limit=2)).open()
    again = csbdata.run(_request(tmp_path / "b", limit=2)).open()
    assert len(first) == 2
    assert [row.id for row in first.rows()] == [row.id for row in again.rows()]


def test_given_instances_alone_are_walked_if_that_is_asked(tmp_path: Path) -> None:
    """Nothing is made for a schema that has none, and the header says so."""
    schema = tmp_path / "alone.schema.json"
    schema.write_text('{"type": "object"}')
    request = replace(_request(tmp_path), data=schema, given_only=True)
    run = csbdata.run(request).open()
    assert [len(row.walks) for row in run.rows()] == [0]
    assert run.header.data.instances == "none"


def test_a_run_without_a_usable_engine_says_so(tmp_path: Path) -> None:
    """It names the engine, why, and the command, and fetches nothing before."""
    request = replace(
        _request(tmp_path), engines=[miniature("absent")], tokenizer="smollm2"
    )
    with pytest.raises(Unavailable, match=r"absent.*is not installed.*pip install"):
        csbdata.run(request)
    assert not (tmp_path / "cache").exists()
    assert not (tmp_path / "run").exists()


def test_an_engine_that_does_not_start_is_named(tmp_path: Path) -> None:
    """Nobody knows it before: the result says so, and the header."""
    request = replace(_request(tmp_path), engines=[miniature("broken")])
    result = csbdata.run(request)
    assert not result.totals.ran
    assert "libengine.so.1" in result.open().header.engines[0].unavailable  # type: ignore[operator]  # it is a text


def test_the_papers_way_is_one_call(tmp_path: Path) -> None:
    """Presets, split, limits, and what is said of models change; the rest stays."""
    request = _request(tmp_path)
    paper = request.as_paper()
    assert (paper.preset, list(paper.splits), paper.vacuous) == (
        "paper",
        ["test"],
        True,
    )
    assert paper.bounds.compile_seconds == 40.0
    assert paper.models[0].compat == "paper"
    assert paper.engines == request.engines
