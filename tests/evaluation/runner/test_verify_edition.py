"""An edition is published from runs, computed again, and asked again."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import jsonschema_rs
import msgspec
import polars as pl
import pytest

from bench.edition.figures import differences
from curation.system.atomic_files import atomic_write_bytes
from curation.system.errors import BadConfiguration, BadData, NoInput
from curation.system.progress import Quiet
from evaluation.analysis import publish_edition as module
from evaluation.analysis.publish_edition import KEY, line_table, publish_edition
from evaluation.results.edition import (
    ROWS,
    Line,
    read_index,
    read_rows,
)
from evaluation.results.reader import open_run
from evaluation.runner.request import RunRequest, choose_suite
from evaluation.runner.run import run, score_file
from evaluation.runner.verify_edition import (
    EditionVerdict,
    draw_lines,
    paired_lines,
    verify_edition,
)
from evaluation.site.build import list_files
from evaluation.site.site import open_site
from tests.evaluation.measuring import BRISK, request_of

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.results.reader import RecordedRun

_SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
_TESTS = [
    {"description": "an integer", "valid": True, "data": {"a": 1}},
    {"description": "a text", "valid": False, "data": {"a": "b"}},
]


@pytest.fixture(name="schemas")
def schemas_(tmp_path: Path) -> Path:
    """Return a folder with two schemas and their texts."""
    folder = tmp_path / "schemas"
    folder.mkdir()
    for name in ("crate", "lid"):
        file = {"description": name, "schema": _SCHEMA, "tests": _TESTS}
        (folder / f"{name}.json").write_text(json.dumps(file))
    return folder


def _run(tmp_path: Path, schemas: Path, name: str, **fields: object) -> RecordedRun:
    request = request_of(tmp_path, [], **{"engines": ["none"], **fields})
    return run(replace(request, data=str(schemas), run_dir=tmp_path / name)).open()


def _published(tmp_path: Path, schemas: Path, **fields: object) -> Path:
    """Return the edition of a run."""
    publish_edition([_run(tmp_path, schemas, "run", **fields)], tmp_path / "e")
    return tmp_path / "e"


def _verified(out: Path, schemas: Path, work: Path) -> EditionVerdict:
    return verify_edition(out, str(schemas), work, count=5, seed=1, progress=Quiet())


def test_every_figure_of_an_edition_follows_from_its_rows(
    tmp_path: Path, schemas: Path
) -> None:
    """Runs of parts of the records are joined; what no run has is `not run`.

    The independent script finds each figure again, and one that was typed.
    """
    runs = [
        _run(tmp_path, schemas, "first", only=["crate"]),
        _run(tmp_path, schemas, "second", only=["lid"]),
    ]
    index = publish_edition(runs, tmp_path / "2026.11")
    (engine,) = index.engines
    masks = engine.tasks["masks"]
    assert engine.tasks["probe"] == "not run"
    assert not isinstance(masks, str)
    assert (masks.asked, masks.passed, masks.tested) == (2, 0, 2)
    assert masks.outcomes == {"under_constrained": 2}
    assert (index.edition, index.dataset.asked) == ("2026.11", 2)
    assert (index.dataset.name, masks.undecided) == ("schemas", 0)
    assert index.dataset.common == 2
    assert differences(tmp_path / "2026.11") == []
    path = tmp_path / "2026.11" / "index.json"
    path.write_text(path.read_text().replace('"asked": 2', '"asked": 3'))
    (found,) = differences(tmp_path / "2026.11")
    assert "index.json: masks" in found


def test_what_a_busy_machine_left_undecided_is_counted(
    tmp_path: Path, schemas: Path
) -> None:
    """Of its engine and task, where no run has the row."""
    only = _run(tmp_path, schemas, "run", only=["crate"])
    file = only.folder / "attempts.jsonl"
    row = json.loads(file.read_text())
    row |= {"id": "lid", "result": "undecided", "outcome": None, "fingerprint": ""}
    with file.open("a") as opened:
        opened.write(json.dumps(row) + "\n")
    (engine,) = publish_edition([open_run(only.folder)], tmp_path / "e").engines
    masks = engine.tasks["masks"]
    assert not isinstance(masks, str)
    assert (masks.asked, masks.undecided) == (1, 1)


def test_times_have_three_digits() -> None:
    """Whatever their size; a time that is missing stays so."""
    times = (None, 0, 7, 0.4, 1_234.5, 98_765_432)
    found = [module._rounded(ns) for ns in times]
    assert found == [None, 0, 7, 0, 1_230, 98_800_000]


def test_the_index_is_as_its_published_schema_says(
    tmp_path: Path, schemas: Path
) -> None:
    """It is valid; with a member of another type it is not."""
    out = tmp_path / "e"
    index = publish_edition([_run(tmp_path, schemas, "run")], out)
    schema = json.loads((out / "schema" / "index.schema.json").read_text())
    validator = jsonschema_rs.validator_for(schema)
    content = json.loads((out / "index.json").read_text())
    validator.validate(content)
    assert not validator.is_valid({**content, "edition": 1})
    assert msgspec.to_builtins(read_index(out)) == msgspec.to_builtins(index)


@pytest.mark.slow
def test_scorecards_of_suites_join_an_edition(tmp_path: Path, schemas: Path) -> None:
    """Index, card and the site's page of the method have them, by model and suite."""
    answers = tmp_path / "answers.jsonl"
    said = {"crate": '{"a": 1}', "lid": '{"a": "b"}'}
    lines = [{"record": name, "text": text} for name, text in said.items()]
    answers.write_text("\n".join(map(json.dumps, lines)))
    request = RunRequest(suite=choose_suite("passrate"), data=str(schemas))
    request = replace(request, run_dir=tmp_path / "suite")
    scored = open_run(score_file(request, answers).folder)
    out = tmp_path / "e"
    index = publish_edition([_run(tmp_path, schemas, "run"), scored], out)
    (card,) = index.scorecards
    assert (card.suite, card.passed, card.of) == ("passrate", 1, 2)
    assert differences(out) == []
    assert read_index(out).scorecards == [card]
    line = r"50.0 % \[9.5, 90.5\] (1 of 2) | schema\_violation 1 |"
    assert line in (out / "README.md").read_text("utf-8")
    pages = {page.path: page.content for page in list_files(open_site(out, None))}
    assert b"schema_violation 1" in pages["about.html"]
    with pytest.raises(BadConfiguration, match="no run of an engine"):
        publish_edition([scored], out)


@pytest.mark.slow
def test_a_run_without_data_begins_no_edition(tmp_path: Path, schemas: Path) -> None:
    """It joins others, which have data."""
    probe = _run(tmp_path, schemas, "probe", tasks=("probe",))
    with pytest.raises(BadConfiguration, match="read no data"):
        publish_edition([probe], tmp_path / "alone")
    index = publish_edition([probe, _run(tmp_path, schemas, "masks")], tmp_path / "e")
    (engine,) = index.engines
    assert engine.tasks["probe"] != "not run"
    assert index.dataset.rows == 2


@pytest.mark.slow
def test_a_publication_that_was_killed_is_finished_by_the_next(
    tmp_path: Path, schemas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After any file of it; the edition is as if nothing had happened."""
    runs = [_run(tmp_path, schemas, name, only=[name]) for name in ("crate", "lid")]
    whole, out = tmp_path / "whole" / "e", tmp_path / "e"
    publish_edition(runs, whole)
    write, left = atomic_write_bytes, sys.maxsize

    def stop(path: Path, content: bytes) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(module, "atomic_write_bytes", stop)
    # Rows and digests, which are written in another way, are there by then.
    for count in range(sum(path.is_file() for path in whole.rglob("*")) - 2):
        shutil.rmtree(out, ignore_errors=True)
        publish_edition(runs[:1], out)
        left = count
        with pytest.raises(KeyboardInterrupt):
            publish_edition(runs, out)
        left = sys.maxsize
        publish_edition(runs, out)
        for path in (path for path in whole.rglob("*") if path.is_file()):
            assert path.read_bytes() == (out / path.relative_to(whole)).read_bytes()


def test_runs_that_mean_nothing_together_are_not_published(
    tmp_path: Path, schemas: Path
) -> None:
    """No limits, other limits, or data that has changed since, are refused by name."""
    first = _run(tmp_path, schemas, "first")
    other = _run(tmp_path, schemas, "other", bounds=replace(BRISK, compile_seconds=2.0))
    with pytest.raises(BadConfiguration, match="limits"):
        publish_edition([first, other], tmp_path / "e")
    header = other.folder / "run.json"
    unlimited = json.loads(header.read_text())
    del unlimited["limits"]["run_seconds"]
    header.write_text(json.dumps(unlimited))
    with pytest.raises(BadConfiguration, match="no time limits"):
        publish_edition([open_run(other.folder)], tmp_path / "e")
    (schemas / "lid.json").unlink()
    with pytest.raises(BadData, match="changed since the run"):
        publish_edition([first], tmp_path / "e")


@pytest.mark.slow
def test_each_run_is_held_against_each(tmp_path: Path, schemas: Path) -> None:
    """A run that read no data goes with both of two that read different data."""
    other = tmp_path / "other schemas"
    shutil.copytree(schemas, other)
    (other / "lid.json").write_text(json.dumps({"schema": True, "tests": _TESTS}))
    runs = [
        _run(tmp_path, schemas, "probe", tasks=("probe",)),
        _run(tmp_path, schemas, "crate", only=["crate"]),
        _run(tmp_path, other, "lid", only=["lid"]),
    ]
    with pytest.raises(BadConfiguration, match=f"not the data .* of {tmp_path}/crate"):
        publish_edition(runs, tmp_path / "e")


def test_what_is_published_is_asked_again(tmp_path: Path, schemas: Path) -> None:
    """Equal rows hold; one that was published otherwise is listed, and fails."""
    out = _published(tmp_path, schemas)
    verdict = _verified(out, schemas, tmp_path / "again")
    assert (verdict.holds, verdict.pairs.height) == (True, 2)
    frame = pl.read_parquet(out / ROWS)
    changed = frame.with_columns(
        outcome=pl.when(pl.col("id") == "lid")
        .then(pl.lit("passed"))
        .otherwise(pl.col("outcome"))
    )
    changed.write_parquet(out / ROWS)
    verdict = _verified(out, schemas, tmp_path / "once more")
    assert not verdict.holds
    differing = verdict.pairs.filter(~pl.col("equal"))
    assert differing.select("id", "outcome", "outcome_now").rows() == [
        ("lid", "passed", "under_constrained")
    ]
    frame.with_columns(engine=pl.lit("ghost")).write_parquet(out / ROWS)
    with pytest.raises(BadData, match="ghost, which the index does not describe"):
        _verified(out, schemas, tmp_path / "of another")
    frame.write_parquet(out / ROWS)
    (schemas / "lid.json").unlink()
    with pytest.raises(BadData, match=r"content \w+, measured was"):
        _verified(out, schemas, tmp_path / "other data")


def test_an_engine_is_asked_again_as_it_was(tmp_path: Path, schemas: Path) -> None:
    """With its options."""
    options = ["llguidance.matcher=fresh"]
    out = _published(tmp_path, schemas, engines=["llguidance"], options=options)
    (engine,) = read_index(out).engines
    assert engine.assigned == {"matcher": "fresh"}
    assert _verified(out, schemas, tmp_path / "again").holds


@pytest.mark.slow
def test_data_that_is_not_named_is_the_one_that_was_measured(tmp_path: Path) -> None:
    """Its content is looked at all the same."""
    out, work = tmp_path / "e", tmp_path / "work"
    request = request_of(tmp_path, [], engines=["none"], limit=1)
    request = replace(request, data=None, run_dir=tmp_path / "run")
    publish_edition([run(request).open()], out)
    ask = partial(verify_edition, out, None, count=1, seed=1, progress=Quiet())
    assert ask(work).holds
    path = out / "index.json"
    path.write_text(path.read_text().replace('"content": "', '"content": "0'))
    with pytest.raises(BadData, match=r"content \w+, measured was 0"):
        ask(tmp_path / "again")


def test_an_engine_that_is_not_there_is_not_asked(
    tmp_path: Path, schemas: Path
) -> None:
    """The others are; each of its lines says why."""
    out = _published(tmp_path, schemas)
    path = out / "index.json"
    spec = '"spec": "llguidance==0.0.1"'
    path.write_text(path.read_text().replace('"spec": "none"', spec))
    verdict = _verified(out, schemas, tmp_path / "again")
    assert (verdict.holds, len(verdict.not_asked)) == (False, 2)
    assert "llguidance 0.0.1 is not installed" in verdict.not_asked[0]


@pytest.mark.parametrize(
    ("now", "differing"),
    [
        ({"wrong": "1:5", "invalid_blocked": 7}, 0),
        ({"wrong": "1:5 2:3 9:1"}, 0),
        ({"wrong": "1:4 2:3"}, 1),
        ({"phase": "compile"}, 1),
        ({"outcome": "crash"}, 1),
    ],
)
def test_a_time_out_is_equal_as_far_as_both_walked(
    now: dict[str, object], differing: int
) -> None:
    """How many texts there was time for is no outcome; where one went wrong is."""
    hint: Line = {"outcome": "timeout", "phase": "walk", "wrong": "1:5 2:3"}
    hint |= {"valid_accepted": 4, "invalid_blocked": 9, **dict.fromkeys(KEY, "")}
    pairs = paired_lines(line_table([hint]), line_table([hint | now]))
    assert pairs.filter(~pl.col("equal")).height == differing


@pytest.mark.parametrize(
    ("equal", "lines", "holds"), [(49, 50, True), (48, 49, False), (0, 0, False)]
)
def test_an_edition_holds_by_nearly_all_of_its_lines(
    equal: int, lines: int, *, holds: bool
) -> None:
    """98 % of one line at least."""
    pairs = pl.DataFrame({"equal": [n < equal for n in range(lines)]})
    assert EditionVerdict(pairs=pairs, not_asked=[]).holds is holds


def test_a_verdict_shows_outcomes_times_and_what_differs() -> None:
    """Times of schemas that have one in both; the table of differences, if any."""
    hint: Line = dict.fromkeys(line_table([]).columns) | dict.fromkeys(KEY, "k")
    hint |= {"outcome": "passed", "phase": "", "wrong": "", "valid_accepted": 1}
    hint |= {"invalid_blocked": 1, "compile_ns": 10, "between_ns": 10.0}
    lines = [hint | {"id": f"{number}"} for number in range(4)]
    now = [
        lines[0] | {"compile_ns": 30},
        lines[1] | {"compile_ns": 50, "outcome": "crash", "phase": "walk"},
        lines[2] | {"compile_ns": 0, "between_ns": 0.0},
        lines[3] | {"compile_ns": 70, "between_ns": 20.0},
    ]
    lines[3]["compile_ns"] = 0
    pairs = paired_lines(line_table(lines), line_table(now))
    summary, listed = EditionVerdict(pairs=pairs, not_asked=[]).tables()
    assert [[str(it).partition(" [")[0] for it in row] for row in summary.rows] == [
        ["passed", "75.0 %", "4x", "1x"],
        ["all", "75.0 %", "4x", "1x"],
    ]
    assert listed.rows == (("k", "k", "k/1", "passed", "crash walk"),)
    equal = EditionVerdict(pairs=pairs.filter("equal"), not_asked=[])
    assert [table.title for table in equal.tables()] == [summary.title]


def test_a_draw_holds_rare_outcomes() -> None:
    """At least 20 of every outcome are drawn, or all there are, by the seed alone."""
    lines = [
        {"engine": "e", "task": "t", "config": "c", "id": str(n), "outcome": outcome}
        for n, outcome in enumerate(["passed"] * 500 + ["crash"] * 3 + ["timeout"] * 40)
    ]
    drawn = draw_lines(lines, 100, 7)
    counts = [
        sum(line["outcome"] == one for line in drawn) for one in ("crash", "timeout")
    ]
    assert len(drawn) == 100
    assert counts[0] == 3
    assert counts[1] >= 20
    assert len(draw_lines(lines, 1, 7)) == 20 + 3 + 20
    assert drawn == draw_lines(lines[::-1], 100, 7)
    assert drawn != draw_lines(lines, 100, 8)


def test_lines_of_another_file_are_refused(tmp_path: Path) -> None:
    """A file of rows without a column of ours is named with the column."""
    pl.DataFrame({"engine": ["e"]}).write_parquet(tmp_path / ROWS)
    with pytest.raises(BadData, match="no column between_ns"):
        read_rows(tmp_path).to_dicts()
    with pytest.raises(NoInput, match="No such file"):
        read_index(tmp_path)
    (tmp_path / "index.json").write_text("{}")
    with pytest.raises(BadData, match="not of an edition"):
        read_index(tmp_path)
