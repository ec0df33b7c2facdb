"""A ratchet: what is worse closes it, what is better is kept, nothing gets lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from curation.system.errors import BadData, BadUsage, NoInput
from evaluation.analysis.compare_runs import ComparisonRequest, compare_runs
from evaluation.analysis.ratchet import hold_against, read_ratchet, write_ratchet
from evaluation.analysis.regression_gate import CaseStanding
from evaluation.commands.results import app
from evaluation.core.cases import Result
from evaluation.results.outcomes import Outcome
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import HEAD, accepted, blocked, row, write_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.core.cases import InstanceResult, Row

_PLACES = st.tuples(st.text(max_size=8), st.text(max_size=8))
_WRONG = st.dictionaries(st.integers(0, 3), st.integers(0, 9), max_size=3)
_STANDINGS = st.dictionaries(
    _PLACES, st.builds(CaseStanding, st.sampled_from(Outcome), _WRONG), max_size=6
)


def _ask(*words: object) -> tuple[int, str]:
    """Return the exit code of `results ratchet`, and all that was said."""
    answer = CliRunner().invoke(
        app, ["ratchet", *map(str, words)], catch_exceptions=False
    )
    return answer.exit_code, answer.output


def _run(folder: Path, *rows: Row) -> Path:
    return write_run(folder, rows)


@settings(max_examples=30)
@given(_STANDINGS)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    outcomes: Mapping[tuple[str, str], CaseStanding],
) -> None:
    """Any task and id, white space and line ends included; equal bytes if sorted."""
    path = tmp_path_factory.mktemp("ratchet") / "ratchet.tsv"
    write_ratchet(path, outcomes, "an engine\nfaithful")
    assert read_ratchet(path) == outcomes
    first = path.read_bytes()
    write_ratchet(path, dict(reversed(list(outcomes.items()))), "an engine faithful")
    assert path.read_bytes() == first
    assert len(first.splitlines()) == len(outcomes) + 1


@settings(max_examples=40)
@given(_STANDINGS, _STANDINGS)
def test_it_only_tightens(
    ratchet: Mapping[tuple[str, str], CaseStanding],
    now: Mapping[tuple[str, str], CaseStanding],
) -> None:
    """No line gets worse or lost by an update, and what is better is taken."""
    found = hold_against(ratchet, now)
    assert found.tightened.keys() == ratchet.keys() | now.keys()
    for place, case in found.tightened.items():
        assert not case.is_worse(ratchet.get(place, case))
        assert not now.get(place, case).is_better(case)
    again = hold_against(found.tightened, {**found.tightened, **now})
    assert again.worse.keys() == found.worse.keys()
    assert not again.better


@pytest.mark.parametrize(
    ("now", "word"),
    [
        # Another text is wrong; the same one earlier; later; no longer the second.
        ((blocked(2, valid=True), accepted(valid=False)), "1 worse"),
        ((blocked(1, valid=True), blocked(2)), "1 worse"),
        ((blocked(3, valid=True), blocked(2)), "1 better"),
        ((blocked(2, valid=True), blocked(2)), "0 worse, 0 missing, 0 better"),
    ],
)
def test_another_fault_of_one_outcome_is_seen(
    tmp_path: Path, now: tuple[InstanceResult, ...], word: str
) -> None:
    """By the ratchet and by the gate: which text, and where, not how many."""
    was = (blocked(2, valid=True), blocked(2))
    before = _run(tmp_path / "before", row(walks=was))
    after = _run(tmp_path / "after", row(walks=now))
    file = tmp_path / "ratchet.tsv"
    _ask(before, file, "--update")
    assert "over_constrained\t0:2" in file.read_text("utf-8")
    code, said = _ask(after, file)
    assert word in said
    assert code == (1 if word == "1 worse" else 0)
    request = ComparisonRequest(runs=[open_run(after)], baseline=open_run(before))
    assert compare_runs(request).holds is (code == 0)


def test_a_schema_that_became_worse_closes_it(tmp_path: Path) -> None:
    """Exit code 1, the schema is named, and an update keeps what it was."""
    file = tmp_path / "ratchet.tsv"
    refused = {"result": Result.COMPILE_ERROR, "walks": ()}
    before = _run(tmp_path / "before", row(id="a"), row(id="b", **refused))
    assert _ask(before, file, "--update")[0] == 0
    assert file.read_text().splitlines()[1:] == [
        "masks\tGithub_easy/a\tpassed",
        "masks\tGithub_easy/b\tcompile_error",
    ]
    assert _ask(before, file)[0] == 0
    walks = (blocked(valid=True), blocked())
    now = _run(tmp_path / "now", row(id="a", walks=walks), row(id="b"), row(id="c"))
    code, said = _ask(now, file)
    assert code == 1
    assert "Github_easy/a" in said
    assert "1 worse, 0 missing, 1 better, 1 new" in said
    assert _ask(now, file, "--update")[0] == 1
    assert file.read_text().splitlines()[1:] == [
        "masks\tGithub_easy/a\tpassed",
        "masks\tGithub_easy/b\tpassed",
        "masks\tGithub_easy/c\tpassed",
    ]
    assert _ask(now, file, "--update", "--accept-worse")[0] == 0
    assert "a\tover_constrained" in file.read_text()
    assert _ask(now, file)[0] == 0


def test_a_schema_that_is_missing_closes_it(tmp_path: Path) -> None:
    """And so does a run that has nothing in common with the file."""
    file = tmp_path / "ratchet.tsv"
    whole = _run(tmp_path / "whole", row(id="a"), row(id="b"))
    _ask(whole, file, "--update")
    part = _run(tmp_path / "part", row(id="a"))
    assert _ask(part, file)[0] == 1
    other = _run(tmp_path / "other", row(id="z"))
    assert _ask(other, file)[0] == 1


def test_what_the_run_says_nothing_about_stays(tmp_path: Path) -> None:
    """Lines of other tasks than the named one, and of undecided cases; accepted too."""
    file = tmp_path / "ratchet.tsv"
    rows = [row(id=name, task=task) for task in ("masks", "other") for name in "ab"]
    _ask(_run(tmp_path / "before", *rows), file, "--update")
    lines = file.read_text().splitlines()
    undecided = row(id="b", result=Result.UNDECIDED, walks=())
    now = _run(tmp_path / "now", row(id="a"), undecided)
    assert _ask(now, file, "--task", "masks")[0] == 0
    assert _ask(now, file)[0] == 1
    update = ("--update", "--accept-worse")
    _ask(now, file, "--task", "masks", *update)
    assert file.read_text().splitlines() == lines
    _ask(now, file, *update)
    assert file.read_text().splitlines() == lines[:3]


def test_the_answer_has_its_figures_in_json(tmp_path: Path) -> None:
    """For programs, on stdout alone."""
    file = tmp_path / "ratchet.tsv"
    run = _run(tmp_path / "run", row(), row(id="o2", walks=(accepted(valid=False),)))
    answer = CliRunner().invoke(
        app, ["ratchet", str(run), str(file), "--update", "--format", "json"]
    )
    assert json.loads(answer.stdout)["ratchet"] == (
        "0 schemas compared, 0 worse, 0 missing, 0 better, 2 new"
    )


def test_what_is_no_ratchet_is_refused_by_its_line(tmp_path: Path) -> None:
    """With the line's number; a file that is not there says what makes it."""
    file, run = tmp_path / "ratchet.tsv", _run(tmp_path / "run", row())
    with pytest.raises(NoInput, match="--update makes it"):
        _ask(run, file)
    for line in ("masks a/b", "masks\ta/b\tsplendid", "a\tb\tc\tpassed", "\0"):
        file.write_text(f"# a ratchet\n{line}\n")
        with pytest.raises(BadData, match="an outcome") as caught:
            _ask(run, file, "--update")
        assert caught.value.where == f"{file}:2"


def test_it_is_of_one_engine(tmp_path: Path) -> None:
    """A run of several wants to be told which, and knows those that it has."""
    file = tmp_path / "ratchet.tsv"
    rows = [row(), row(engine="beta 2.0", walks=())]
    engines = [{"engine": "alpha 1.0"}, {"engine": "beta 2.0", "name": "beta"}]
    run = write_run(tmp_path / "run", rows, {**HEAD, "engines": engines})
    with pytest.raises(BadUsage, match=r"alpha 1\.0; beta 2\.0"):
        _ask(run, file, "--update")
    with pytest.raises(NoInput, match="it has alpha"):
        _ask(run, file, "--update", "--engine", "gamma")
    for name in ("beta 2.0", "beta"):
        assert _ask(run, file, "--update", "--engine", name)[0] == 0
    assert "untested" in file.read_text()
    rows += [row(engine="beta 2.0 paper")]
    engines += [{"engine": "beta 2.0 paper", "name": "beta"}]
    run = write_run(tmp_path / "presets", rows, {**HEAD, "engines": engines})
    with pytest.raises(BadUsage, match=r"has 2.*beta 2\.0; beta 2\.0 paper"):
        _ask(run, file, "--update", "--engine", "beta")
    assert _ask(run, file, "--update", "--engine", "beta 2.0")[0] == 0
    with pytest.raises(NoInput, match="no schema"):
        _ask(run, file, "--task", "probe")


def test_what_is_no_text_is_no_ratchet(tmp_path: Path) -> None:
    """Other bytes are bad data; a device is not read, which would never end."""
    file = tmp_path / "ratchet.tsv"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(BadData, match="byte 0 is not UTF-8"):
        read_ratchet(file)
    with pytest.raises(NoInput, match="not a file"):
        read_ratchet(Path("/dev/zero"))
