"""Comparisons are paired, honest about what is missing, and a gate that holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.system.errors import BadConfiguration, NoInput
from evaluation.analysis.compare_runs import ComparisonRequest, compare_runs
from evaluation.analysis.ratchet import (
    hold_against,
    outcomes_by_place,
    undecided_places,
)
from evaluation.analysis.regression_gate import (
    compare_with_baseline,
    compared_engines,
    match_baselines,
    pair_engines,
    rank_of,
    standing,
)
from evaluation.analysis.run_report import reports
from evaluation.core.cases import Result
from evaluation.reporting.tables import Rate, Ratio, Shift, Table
from evaluation.results.outcomes import Outcome
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import HEAD, accepted, blocked, many, row, write_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.analysis.compare_runs import ComparisonResult
    from evaluation.core.cases import Row
    from evaluation.results.reader import RecordedRun


def _run(folder: Path, rows: Sequence[Row], **header: UntypedJson) -> RecordedRun:
    engines = [
        {"engine": name, "name": name.partition(" ")[0], "preset": "faithful"}
        for name in sorted({each.engine for each in rows})
    ]
    head = {**HEAD, "engines": engines, **header}
    return open_run(write_run(folder, rows, head))


def _table(answer: ComparisonResult, title: str) -> Table:
    return next(each for each in answer.tables if each.title == title)


def _bad(**given: UntypedJson) -> Row:
    return row(walks=(accepted(), accepted(valid=False)), **given)


def test_engines_of_one_run_are_compared_with_each_other(tmp_path: Path) -> None:
    """On the same schemas: twice as slow is twice as slow, whatever the schemas."""
    rows = many("alpha 1.0", 200, broken=0) + many("beta 2.0", 150, speed=2, broken=0)
    answer = compare_runs(ComparisonRequest(runs=[_run(tmp_path, rows)]))
    a, b, schemas, to_first, _, between = _table(answer, "Times, paired").rows[0]
    assert (a, b, schemas) == ("alpha 1.0", "beta 2.0", 150)
    for ratio in (to_first, between):
        assert isinstance(ratio, Ratio)
        assert ratio.interval is not None
        assert 1.5 < ratio.interval.low < ratio.value < ratio.interval.high < 2.5
    assert answer.holds is None


def test_passing_is_counted_in_pairs(tmp_path: Path) -> None:
    """Both, only a, only b; McNemar's p by hand: 2 x (1/2)^5, once for one pair."""
    rows = [row(id=f"o{n}") for n in range(9)]
    rows += [row(id=f"o{n}", engine="beta 2.0") for n in range(4)]
    rows += [_bad(id=f"o{n}", engine="beta 2.0") for n in range(4, 9)]
    answer = compare_runs(ComparisonRequest(runs=[_run(tmp_path, rows)]))
    table = _table(answer, "What passes, paired")
    cells = table.rows[0]
    assert cells[2:6] == (Rate(9, 9), Rate(4, 9), 5, 0)
    assert cells[7:] == (2 / 32,)
    assert "adjusted" not in f"{table.columns} {table.note}"


def test_times_are_compared_on_what_all_compile_alone(tmp_path: Path) -> None:
    """One block: no schema that one refuses makes the other look slow."""
    lost = row(
        id="o1", engine="beta 2.0", result=Result.TIMEOUT, phase="compile",
        compile_ns=None, first_mask_ns=None, walks=(),
    )  # fmt: skip
    rows = [row(), row(id="o2"), lost, row(id="o2", engine="beta 2.0")]
    run = _run(tmp_path, rows, limits={"compile_seconds": 40})
    answer = compare_runs(ComparisonRequest(runs=[run]))
    for tables in (answer.tables, reports(run)["masks"].tables):
        (shared,) = (each for each in tables if each.slug == "time-to-first-mask")
        assert shared.title == "Time to first mask, the 1 schema that all compile"
        assert [each[1] for each in shared.rows] == [1, 1]
        assert "cut off" not in shared.columns
        assert len({each.slug for each in tables}) == len(tables)


def test_the_same_engine_in_two_runs_has_the_runs_name(tmp_path: Path) -> None:
    """Nobody can mistake the one for the other."""
    runs = [_run(tmp_path / name, [row()]) for name in ("old", "new")]
    labels = [each.label for each in compared_engines(runs, "masks")]
    assert labels == ["old: alpha 1.0", "new: alpha 1.0"]


def test_folders_of_one_name_are_told_apart_by_their_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every table and objection; the folder that one stands in has its name."""
    runs = [
        _run(tmp_path / "old" / "run", [row(), row(id="o2")], limit=1),
        _run(tmp_path / "new" / "run", [_bad(), _bad(id="o2")], limit=2),
    ]
    answer = compare_runs(ComparisonRequest(runs=runs))
    labels = [f"{run.folder}: alpha 1.0" for run in runs]
    assert [*_table(answer, "What passes, paired").rows[0][:2]] == labels
    coverage = next(table for table in answer.tables if table.slug == "coverage")
    assert [line[0] for line in coverage.rows] == labels
    assert f"{runs[1].folder} and {runs[0].folder} differ" in answer.objections[0]
    monkeypatch.chdir(runs[0].folder)
    here, other = open_run(Path()), _run(tmp_path / "other", [row()])
    own, _ = compared_engines([here, other], "masks")
    assert own.label == "run: alpha 1.0"


def test_times_of_a_task_without_timing_are_not_compared(tmp_path: Path) -> None:
    """Neither shown nor a reason to fail; a limit of no times does not hold."""
    old = [replace(each, task="probe") for each in many("alpha 1.0", 60, broken=0)]
    new = [replace(each, compile_ns=9 * (each.compile_ns or 0)) for each in old]
    answer = _gate(tmp_path / "a", old, new)
    assert not [each.title for each in answer.tables if "ime" in each.title]
    alone = _gate(tmp_path / "b", old, new, slower=1.2)
    assert alone.holds is False
    assert alone.reason == "task probe has no times to compare"
    masks = many("alpha 1.0", 60, broken=0)
    answer = _gate(tmp_path / "c", old + masks, new + masks, slower=1.2)
    assert answer.holds is True, answer.reason


def test_schemas_that_agree_give_no_interval(tmp_path: Path) -> None:
    """Resampling them says nothing about others; nor do those that all differ."""
    rows = [row(id=f"o{n}") for n in range(9)]
    rows += [row(id=f"o{n}", engine="beta 2.0") for n in range(9)]
    rows += [_bad(id=f"o{n}", engine="gamma 1") for n in range(9)]
    answer = compare_runs(ComparisonRequest(runs=[_run(tmp_path, rows)]))
    differences = [line[6] for line in _table(answer, "What passes, paired").rows]
    assert differences == [Shift(0.0), Shift(-1.0), Shift(-1.0)]


def test_nothing_to_compare_is_said(tmp_path: Path) -> None:
    """One engine alone has no counterpart."""
    with pytest.raises(NoInput, match="no two engines"):
        compare_runs(ComparisonRequest(runs=[_run(tmp_path, [row()])]))


def test_other_data_and_machines_are_objected_to(tmp_path: Path) -> None:
    """What makes figures less comparable is said, and they are compared."""
    one = _run(tmp_path / "a", [row()], machine={"cores": 2}, data={"sha256": "1"})
    two = _run(tmp_path / "b", [row()], machine={"cores": 64}, data={"sha256": "2"})
    answer = compare_runs(ComparisonRequest(runs=[one, two]))
    assert [("machine" in each, "data" in each) for each in answer.objections] == [
        (False, True),
        (True, False),
    ]


def _gate(
    tmp_path: Path, old: Sequence[Row], new: Sequence[Row], **given: UntypedJson
) -> ComparisonResult:
    question = ComparisonRequest(
        runs=[_run(tmp_path / "new", new)],
        baseline=_run(tmp_path / "old", old),
        **given,
    )
    return compare_runs(question)


def test_a_gate_holds_where_nothing_is_worse(tmp_path: Path) -> None:
    """The next version of an engine is held against the one before."""
    old = [row(), _bad(id="o2")]
    new = [row(engine="alpha 1.1"), row(engine="alpha 1.1", id="o2")]
    answer = _gate(tmp_path, old, new)
    assert answer.holds is True
    cells = _table(answer, "Regression gate").rows[0]
    assert cells[:6] == ("alpha 1.0", "alpha 1.1", Rate(2, 2), 0, 1, 0)


def test_a_gate_fails_where_one_is_worse(tmp_path: Path) -> None:
    """What became worse is listed by name; better ones do not make up for it."""
    old = [row(), _bad(id="o2"), _bad(id="o3")]
    new = [_bad(), row(id="o2"), row(id="o3")]
    answer = _gate(tmp_path, old, new)
    assert answer.holds is False
    assert "1 worse" in answer.reason
    assert _table(answer, "Cases that moved").rows[0][1:] == (
        "worse", "masks", "Github_easy/o1", "passed",
        "under constrained: text 2 at token 5",
    )  # fmt: skip


def test_a_gate_allows_what_it_is_told_to_allow(tmp_path: Path) -> None:
    """At 75 % one of four may be worse, at 76 % not."""
    old = [row(id=f"o{n}") for n in range(4)]
    new = [_bad(id="o0"), *old[1:]]
    assert _gate(tmp_path / "a", old, new, percent=75.0).holds is True
    assert _gate(tmp_path / "b", old, new, percent=76.0).holds is False


def test_what_was_not_run_is_not_no_worse(tmp_path: Path) -> None:
    """A case of the baseline that is missing fails the gate."""
    old, new = [row(), row(id="o2")], [row()]
    answer = _gate(tmp_path, old, new)
    assert answer.holds is False
    assert "0 worse, 1 not run" in answer.reason


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        (row(engine="beta 2.0"), "beta 2.0, masks: 1 case not run"),
        (row(task="probe"), "alpha 1.0, probe: 1 case not run"),
    ],
    ids=["engine", "task"],
)
def test_what_is_in_no_row_of_the_new_run_fails_the_gate(
    lost: Row, said: str, tmp_path: Path
) -> None:
    """An engine or a task of the baseline that was left out; unless all may be lost."""
    answer = _gate(tmp_path / "a", [row(), lost], [row()])
    assert answer.holds is False
    assert said in answer.reason
    assert _gate(tmp_path / "b", [row(), lost], [row()], percent=0.0).holds is True


def test_what_is_undecided_is_neither_worse_nor_missing(tmp_path: Path) -> None:
    """It is in no numerator and no denominator, and a ratchet holds without it."""
    old = [row(), row(id="o2")]
    new = [row(), row(id="o2", result=Result.UNDECIDED, walks=())]
    answer = _gate(tmp_path, old, new)
    assert answer.holds is True
    assert _table(answer, "Regression gate").rows[0][2] == Rate(1, 1)
    label, before = outcomes_by_place(open_run(tmp_path / "old"), None, [])
    run = open_run(tmp_path / "new")
    _, now = outcomes_by_place(run, None, [])
    assert hold_against(before, now, undecided_places(run, label)).holds
    assert not hold_against(before, now).holds


def test_a_gate_over_nothing_does_not_hold(tmp_path: Path) -> None:
    """No case in common is no proof that nothing is worse."""
    answer = _gate(tmp_path, [row()], [row(id="o2")])
    assert answer.holds is False


@pytest.mark.parametrize(("most", "holds"), [(None, True), (1.2, False), (3.0, True)])
def test_a_gate_on_time_wants_to_be_sure(
    most: float | None, *, holds: bool, tmp_path: Path
) -> None:
    """Twice as slow fails at 1.2 and not at 3: the whole interval has to be above."""
    old = many("alpha 1.0", 60, broken=0)
    new = many("alpha 1.0", 60, speed=2, broken=0)
    answer = _gate(tmp_path, old, new, slower=most)
    assert answer.holds is holds
    assert ("as long to first mask" in answer.reason) is not holds


def test_a_gate_on_time_is_not_closed_by_one_slow_schema(tmp_path: Path) -> None:
    """A ratio that is not sure is no slowdown."""
    old = [row(id=f"o{n}") for n in range(3)]
    new = [*old[:2], row(id="o2", compile_ns=2_000_000_000)]
    assert _gate(tmp_path, old, new, slower=1.2).holds is True


def test_the_nearest_engine_of_a_baseline_is_taken(tmp_path: Path) -> None:
    """The same preset before another one, the same name before another name."""

    def run(folder: str, *labels: str) -> RecordedRun:
        engines: UntypedJson = [
            {"engine": each, "name": each.split()[0], "preset": each.split()[2]}
            for each in labels
        ]
        rows = [row(engine=each) for each in labels]
        head = {**HEAD, "engines": engines}
        return open_run(write_run(tmp_path / folder, rows, head))

    old = compared_engines(
        [run("old", "alpha 1 fast", "alpha 1 safe", "beta 1 safe")], "masks"
    )
    new = compared_engines(
        [run("new", "alpha 2 safe", "beta 2 fast", "gamma 2 fast")], "masks"
    )
    assert [(a.engine, b.engine) for a, b in match_baselines(old, new)] == [
        ("alpha 1 safe", "alpha 2 safe"),
        ("beta 1 safe", "beta 2 fast"),
    ]


def test_an_engine_without_a_counterpart_is_refused(tmp_path: Path) -> None:
    """The message names what the baseline has."""
    old = [row(), row(engine="gamma 1")]
    with pytest.raises(BadConfiguration, match=r"beta 2\.0.*alpha 1\.0, gamma 1"):
        _gate(tmp_path, old, [row(engine="beta 2.0")])


def test_an_honest_refusal_is_better_than_a_wrong_mask(tmp_path: Path) -> None:
    """The order of outcomes: passed, refused, over-, under-constrained, dead."""
    rows = [
        row(),
        row(id="o2", result=Result.COMPILE_ERROR, walks=()),
        row(id="o3", walks=(blocked(valid=True),)),
        _bad(id="o4"),
        row(id="o5", result=Result.CRASH, walks=()),
    ]
    (side,) = compared_engines([_run(tmp_path, rows)], "masks")
    ranks = [rank_of(standing(each).outcome) for each in side.cases]
    assert ranks == sorted(set(ranks))
    assert compare_with_baseline(side, side).no_worse == Rate(5, 5)
    assert len(pair_engines(side, side).cases) == 5


def test_every_standing_has_a_rank(tmp_path: Path) -> None:
    """No outcome is forgotten by the gate."""
    from evaluation.analysis.regression_gate import RANKS  # noqa: PLC0415 (this test's alone)

    assert sorted(each for ranks in RANKS for each in ranks) == sorted(Outcome)
