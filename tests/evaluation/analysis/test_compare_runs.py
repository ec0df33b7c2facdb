"""Comparisons are paired, honest about what is missing, and a gate that holds."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from curation.system.errors import BadData, BadUsage, NoInput
from evaluation.analysis.compare_runs import (
    ExpectedOutcome,
    PairedEngines,
    compare_runs,
    compared_engines,
    engine_outcomes,
    machine_speed,
    match_engines,
    pair_engines,
    paired_times,
    read_outcomes,
    slowdowns,
    write_outcomes,
)
from evaluation.analysis.run_report import tables_by_task
from evaluation.core.cases import Result
from evaluation.reporting.tables import Rate, Ratio, Shift, Table
from evaluation.results.headline import tables
from evaluation.results.noise import TIMES
from evaluation.results.outcomes import RANKS, Outcome
from evaluation.results.reader import open_run
from tests.evaluation.known import known
from tests.evaluation.made_runs import HEAD, accepted, blocked, many, row, write_run
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curation.core.json_types import UntypedJson
    from evaluation.analysis.compare_runs import ComparisonResult, EngineOutcomes
    from evaluation.core.cases import Row
    from evaluation.reporting.statistics import Interval
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


def _nine(engine: str, right: int) -> list[Row]:
    """Return rows of nine schemas of which the first ones pass."""
    made = [row] * right + [_bad] * (9 - right)
    return [make(engine=engine, id=f"o{n}") for n, make in enumerate(made)]


def test_engines_of_one_run_are_compared_with_each_other(tmp_path: Path) -> None:
    """On the same schemas: twice as slow is twice as slow, whatever the schemas."""
    rows = many("alpha 1.0", 200, broken=0) + many("beta 2.0", 150, speed=2, broken=0)
    answer = compare_runs(run=_run(tmp_path, rows))
    a, b, schemas, to_first, _, between = _table(answer, "Times, paired").rows[0]
    assert (a, b, schemas) == ("alpha 1.0", "beta 2.0", 150)
    for ratio in (to_first, between):
        assert isinstance(ratio, Ratio)
        interval = known(ratio.interval)
        assert 1.5 < interval.low < ratio.value < interval.high < 2.5


def test_passing_is_counted_in_pairs(tmp_path: Path) -> None:
    """Both, only a, only b; McNemar's p by hand: 2 x (1/2)^5, once for one pair."""
    rows = [*_nine("alpha 1.0", 9), *_nine("beta 2.0", 4)]
    table = _table(compare_runs(run=_run(tmp_path, rows)), "What passes, paired")
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
    shown = tables_by_task(run)["masks"]
    (shared,) = (each for each in shown if each.slug == "times")
    assert shared.title == "Times, of the 1 schema that all compile"
    assert [each[2] for each in shared.rows] == [1] * 6
    assert len({each.slug for each in shown}) == len(shown)


def test_an_engine_of_two_runs_is_told_apart_by_their_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their paths where they have one name, in every table and objection."""
    runs = [
        _run(tmp_path / "old" / "run", [row(), row(id="o2")], limit=1),
        _run(tmp_path / "new" / "run", [_bad(), _bad(id="o2")], limit=2),
    ]
    answer = compare_runs(run=runs[1], baseline=runs[0])
    labels = [f"{run.folder}: alpha 1.0" for run in runs]
    assert [*_table(answer, "What passes, paired").rows[0][:2]] == labels
    assert f"{runs[1].folder} and {runs[0].folder} differ" in answer.objections[0]
    monkeypatch.chdir(runs[0].folder)
    named = [open_run(Path()), _run(tmp_path / "other", [row()])]
    labels = [each.label for each in compared_engines(named, "masks")]
    assert labels == ["run: alpha 1.0", "other: alpha 1.0"]


def test_times_of_a_task_without_timing_are_not_compared(tmp_path: Path) -> None:
    """Neither shown nor a reason to fail; a limit of no times does not hold."""
    old = [replace(each, task="probe") for each in many("alpha 1.0", 60, broken=0)]
    new = [replace(each, compile_ns=9 * (each.compile_ns or 0)) for each in old]
    answer = _held(tmp_path / "a", old, new, "slower")
    assert not [each.title for each in answer.tables if "ime" in each.title]
    assert answer.failures == ["no times to compare"]
    masks = many("alpha 1.0", 60, broken=0)
    answer = _held(tmp_path / "b", old + masks, new + masks, "slower")
    assert answer.failures == []


def test_schemas_that_agree_give_no_interval(tmp_path: Path) -> None:
    """Resampling them says nothing about others; nor do those that all differ."""
    rows = [*_nine("alpha 1.0", 9), *_nine("beta 2.0", 9), *_nine("gamma 1", 0)]
    answer = compare_runs(run=_run(tmp_path, rows))
    differences = [line[6] for line in _table(answer, "What passes, paired").rows]
    assert differences == [Shift(0.0), Shift(-1.0), Shift(-1.0)]


def _held(
    folder: Path, old: Sequence[Row], new: Sequence[Row], *fail_on: str
) -> ComparisonResult:
    """Hold a run against another one."""
    before, now = _run(folder / "old", old), _run(folder / "new", new)
    fail_on = fail_on or ("worse",)
    return compare_runs(run=now, baseline=before, fail_on=fail_on)


def _held_against_file(
    folder: Path, old: Sequence[Row], new: Sequence[Row]
) -> ComparisonResult:
    """Hold a run against the outcomes of another one."""
    file = folder / "expected.jsonl"
    write_outcomes(_run(folder / "old", old), file)
    run = _run(folder / "new", new)
    return compare_runs(run=run, baseline=file, fail_on=["worse"])


_WAS = (blocked(2, valid=True), blocked(2))
#: Name of a case: rows before, rows now, and the failure.
_CASES = {name: cases for name, *cases in table(__file__, "held")}


def _made(bad: bool = False, **more: Any) -> Row:  # noqa: ANN401, FBT001, FBT002 (as a row of the table has them)
    """Return a row of the table."""
    if "result" in more:
        more["result"] = Result(more["result"])
    if "walks" in more:
        more["walks"] = tuple(
            accepted(valid=valid) if kind == "accepted" else blocked(at, valid=valid)
            for kind, at, valid in more["walks"]
        )
    return _bad(**more) if bad else row(**more)


@pytest.mark.parametrize("hold", [_held, _held_against_file])
@pytest.mark.parametrize(("old", "new", "failures"), _CASES.values(), ids=_CASES)
def test_what_is_worse_or_was_not_run_is_a_failure(
    hold: Callable[..., ComparisonResult],
    old: list[dict[str, Any]],
    new: list[dict[str, Any]],
    failures: list[str],
    tmp_path: Path,
) -> None:
    """Against a run and against the file of its outcomes alike."""
    rows = ([_made(**it) for it in side] for side in (old, new))
    found = hold(tmp_path, *rows).failures
    # A run's engines have their versions, a file's have presets.
    assert [re.sub(r"^(\w+)( [\w.]+)?:", r"\1:", each) for each in found] == failures


def test_what_moved_is_listed_by_name(tmp_path: Path) -> None:
    """What is worse first, then what was not run, then what is better."""
    old = [row(), _bad(id="o2"), row(id="o3")]
    answer = _held_against_file(tmp_path, old, [_bad(), row(id="o2")])
    assert _table(answer, "Beside the baseline").rows == (
        ("alpha faithful", "alpha 1.0", Rate(1, 3), 1, 1, 1),
    )
    wrong = "under constrained: text 2 at token 5"
    assert [line[1:] for line in _table(answer, "Cases that moved").rows] == [
        ("worse", "masks", "Github_easy/o1", "passed", wrong),
        ("not run", "masks", "Github_easy/o3", None, None),
        ("better", "masks", "Github_easy/o2", wrong, "passed"),
    ]


def test_only_a_time_that_is_surely_longer_is_a_failure(tmp_path: Path) -> None:
    """Twice as slow is; one slow schema of three is none."""
    old, new = (many("alpha 1.0", 60, speed=speed, broken=0) for speed in (1, 2))
    (first, *_) = _held(tmp_path / "twice", old, new, "slower").failures
    assert "as long: compile" in first
    old = [row(id=f"o{n}") for n in range(3)]
    new = [*old[:2], row(id="o2", compile_ns=2_000_000_000)]
    assert _held(tmp_path / "one", old, new, "slower").failures == []


def test_the_nearest_engine_of_a_baseline_is_taken(tmp_path: Path) -> None:
    """The same preset before another one, the same name before another name."""

    def outcomes(folder: str, *labels: str) -> list[EngineOutcomes]:
        engines = [
            {"engine": each, "name": each.split()[0], "preset": each.split()[2]}
            for each in labels
        ]
        rows = [row(engine=each) for each in labels]
        return engine_outcomes(_run(tmp_path / folder, rows, engines=engines))

    old = outcomes("old", "alpha 1 fast", "alpha 1 safe", "beta 1 safe")
    new = outcomes("new", "alpha 2 safe", "beta 2 fast", "gamma 2 fast")
    assert [(a.label, b.label) for a, b in match_engines(old, new)] == [
        ("alpha 1 safe", "alpha 2 safe"),
        ("beta 1 safe", "beta 2 fast"),
    ]


def test_engines_of_other_names_are_compared_where_none_is_in_both(
    tmp_path: Path,
) -> None:
    """Each with each, and nothing is held against anything."""
    old, new = [row(), row(engine="beta 2.0")], [row(engine="gamma 1")]
    before, now = _run(tmp_path / "old", old), _run(tmp_path / "new", new)
    answer = compare_runs(run=now, baseline=before)
    assert [line[:2] for line in _table(answer, "What passes, paired").rows] == [
        ("alpha 1.0", "gamma 1"),
        ("beta 2.0", "gamma 1"),
    ]
    assert answer.tables[0].title == "What passes, paired"


def test_an_outcome_names_its_first_wrong_text() -> None:
    """Texts and tokens count from 1; the others are counted."""
    case = ExpectedOutcome(engine="e", task="t", schema="s", outcome=Outcome.LIED)
    words = [str(structs.replace(case, wrong=it)) for it in ({}, {3: 1}, {3: 1, 0: 2})]
    first, second = "lied: text 4 at token 2", "lied: text 1 at token 3 and 1 more"
    assert words == ["lied", first, second]


def test_every_outcome_has_a_rank() -> None:
    """The order forgets none, and has none twice."""
    assert sorted(each for rank in RANKS for each in rank) == sorted(Outcome)


def test_a_file_of_outcomes_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Odd names too; its lines are sorted, so that a change of one is one line."""
    rows = [row(id="b\tc\n\u2028"), row(id="a", walks=_WAS), row(engine="beta 2.0")]
    file = tmp_path / "expected.jsonl"
    write_outcomes(_run(tmp_path / "run", rows), file)
    whole = '{"engine":"%s faithful","task":"masks","schema":"Github_easy/%s",%s}'
    assert file.read_text("utf-8").split("\n")[:-1] == [
        whole % ("alpha", "a", '"outcome":"over_constrained","wrong":{"0":2}'),
        whole % ("alpha", "b\\tc\\n\u2028", '"outcome":"passed"'),
        whole % ("beta", "o1", '"outcome":"passed"'),
    ]
    alpha, beta = read_outcomes(file)
    assert (alpha.label, beta.label) == ("alpha faithful", "beta faithful")
    found = {name: (case.outcome, case.wrong) for name, case in alpha.outcomes.items()}
    assert found == {
        ("masks", "Github_easy/a"): (Outcome.OVER_CONSTRAINED, {0: 2}),
        ("masks", "Github_easy/b\tc\n\u2028"): (Outcome.PASSED, {}),
    }


@pytest.mark.parametrize(
    "line", ["masks a/b", "{}", '{"a":' * 9_999, '{"outcome": "splendid"}', "\0"]
)
def test_a_line_that_is_not_an_outcome_is_named(line: str, tmp_path: Path) -> None:
    """With its number; a file that is not there says what makes one."""
    file = tmp_path / "expected.jsonl"
    write_outcomes(_run(tmp_path / "run", [row()]), file)
    with file.open("a") as opened:
        opened.write(f"{line}\n")
    with pytest.raises(BadData, match="not an expected outcome") as caught:
        read_outcomes(file)
    assert caught.value.where == f"{file}:2"
    with pytest.raises(NoInput, match="--format outcomes"):
        read_outcomes(tmp_path / "nothing")


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    """One engine alone, no baseline, no times, two versions that a file mixes up."""
    run = _run(tmp_path / "run", [row()])
    file = tmp_path / "expected.jsonl"
    write_outcomes(run, file)
    with pytest.raises(NoInput, match="no two engines"):
        compare_runs(run=run)
    with pytest.raises(BadUsage, match="a second run"):
        compare_runs(run=run, fail_on=["worse"])
    with pytest.raises(BadUsage, match="no times"):
        compare_runs(run=run, baseline=file, fail_on=["slower"])
    two = _run(tmp_path / "two", [row(), row(engine="alpha 1.1")])
    with pytest.raises(BadData, match="'alpha faithful'"):
        write_outcomes(two, file)


def _rows(
    engine: str, *, speed: float = 1.0, machine: float = 1.0, repetitions: int = 1
) -> list[Row]:
    """Return rows in which everything takes `speed` x `machine` times as long."""
    taken = speed * machine
    return [
        row(
            engine=engine,
            id=f"o{number}",
            repetition=repetition,
            compile_ns=int(taken * (1_000_000 + 9_000 * number)),
            first_mask_ns=int(taken * (60_000 + 500 * number)),
            calibration_ns=int(machine * 30_000),
            walks=(accepted(int(taken * (40_000 + 300 * number))),),
        )
        for number in range(40)
        for repetition in range(repetitions)
    ]


def _pair(folder: Path, a: list[Row], b: list[Row]) -> PairedEngines:
    """Return the first engine of one run beside the first one of another."""
    runs = (_run(folder / name, rows) for name, rows in (("a", a), ("b", b)))
    return pair_engines(*(compared_engines([run], "masks")[0] for run in runs))


def _ratios(run: RecordedRun) -> dict[str, Ratio | None]:
    return paired_times(pair_engines(*compared_engines([run], "masks")))


def _compared_times(pair: PairedEngines) -> Table:
    answer = compare_runs(run=pair.b.run, baseline=pair.a.run)
    return next(it for it in answer.tables if it.title.startswith("Times, paired"))


def test_a_machine_that_was_slower_is_not_the_engine(tmp_path: Path) -> None:
    """The same engine in a run in which all work took 1.6 times as long.

    The table of times, which are divided by it, names it.
    """
    pair = _pair(
        tmp_path, _rows("alpha 1.0"), _rows("alpha 1.0", speed=1.02, machine=1.6)
    )
    assert machine_speed(pair) == pytest.approx(1.6)
    for ratio in paired_times(pair).values():
        assert 1 < known(ratio).value < 1.03
    assert slowdowns([pair]) == []
    times = _compared_times(pair)
    assert str(times.rows[0][times.columns.index("machine")]) == "1.6x"
    assert str(times.rows[0][3]).startswith("1.02x [")


def test_an_engine_that_became_slower_is_caught(tmp_path: Path) -> None:
    """On a slower machine, too."""
    slow = _rows("alpha 1.0", speed=1.4, machine=1.3)
    pair = _pair(tmp_path, _rows("alpha 1.0"), slow)
    assert slowdowns([pair])[0].startswith("alpha 1.0 takes 1.4x [")
    assert [text.split(" as long: ")[1] for text in slowdowns([pair])] == [*TIMES]


def test_machine_speed_is_told_by_engines_that_are_in_both_runs(tmp_path: Path) -> None:
    """What another engine leaves behind makes the work after it slower, no machine."""
    alpha, beta = _rows("alpha 1.0"), _rows("beta 2.0", machine=1.5)
    same = [_rows("same 1.0", machine=machine) for machine in (1.0, 1.1)]
    alone = _pair(tmp_path / "alone", alpha, beta)
    both = _pair(tmp_path / "both", alpha + same[0], beta + same[1])
    assert (both.a.engine, both.b.engine) == ("alpha 1.0", "beta 2.0")
    speeds = [known(machine_speed(pair)) for pair in (alone, both)]
    assert speeds == pytest.approx([1.5, 1.1], rel=1e-3)


@pytest.mark.parametrize("unmeasured", [None, 0])
def test_an_older_run_still_compares(tmp_path: Path, unmeasured: int | None) -> None:
    """Without calibration work in both runs times are as measured, and it is said."""
    old = [replace(one, calibration_ns=unmeasured) for one in _rows("alpha 1.0")]
    pair = _pair(tmp_path, old, _rows("alpha 1.0", speed=1.4))
    assert machine_speed(pair) is None
    assert len(slowdowns([pair])) == len(TIMES)
    assert "without calibration work" in _compared_times(pair).note


def test_repetitions_that_lie_apart_say_how_far_others_may(tmp_path: Path) -> None:
    """With such noise a difference of a tenth is none."""

    def interval(name: str, noise: float, repetitions: int) -> Interval:
        rows = [
            replace(
                each,
                compile_ns=int((each.compile_ns or 0) * (1 + noise * each.repetition)),
            )
            for engine, speed in (("alpha 1.0", 1.0), ("beta 2.0", 1.1))
            for each in _rows(engine, speed=speed, repetitions=repetitions)
        ]
        run = _run(tmp_path / name, rows)
        assert machine_speed(pair_engines(*compared_engines([run], "masks"))) is None
        return known(known(_ratios(run)["compile"]).interval)

    assert interval("noisy", 0.2, 2).low < 1 < interval("calm", 0, 1).low


def test_waiting_for_the_core_is_no_time_of_the_engine(tmp_path: Path) -> None:
    """Wherever a time is read: it is taken out of the row, and not by its readers."""

    def waiting(each: Row) -> Row:
        (walk,) = each.walks
        late = (*walk.mask_ns[:-1], walk.mask_ns[-1] + 8_950_000)
        return replace(
            each,
            compile_ns=(each.compile_ns or 0) + 5_000_000,
            compile_waited_ns=5_000_000,
            walks=(replace(walk, mask_ns=late, waited_ns=8_950_000),),
        )

    alpha, beta = _rows("alpha 1.0"), _rows("beta 2.0")
    run = _run(tmp_path / "run", [*alpha, *map(waiting, beta)])
    calm = _run(tmp_path / "calm", alpha + beta)
    assert run.attempts("masks").equals(calm.attempts("masks"))
    assert [*tables(run.attempts("masks"))] == [*tables(calm.attempts("masks"))]
    assert _ratios(run) == _ratios(calm)
