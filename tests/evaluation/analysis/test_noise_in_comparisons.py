"""A comparison of times knows its processes and its machine; so do its failures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evaluation.analysis.compare_runs import (
    PairedEngines,
    compare_runs,
    compared_engines,
    machine_speed,
    pair_engines,
    paired_times,
    slowdowns,
)
from evaluation.results.noise import TIMES
from evaluation.results.overview import overview
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import accepted, blocked, row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.core.cases import Row
    from evaluation.reporting.tables import Ratio
    from evaluation.results.reader import RecordedRun


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
    first = open_run(write_run(folder / "a", a))
    second = open_run(write_run(folder / "b", b))
    (one,), (other,) = (compared_engines([run], "masks") for run in (first, second))
    return pair_engines(one, other)


def _ratios(run: RecordedRun) -> dict[str, Ratio | None]:
    return paired_times(pair_engines(*compared_engines([run], "masks")))


def test_a_machine_that_was_slower_is_not_the_engine(tmp_path: Path) -> None:
    """The same engine in a run in which all work took 1.6 times as long."""
    pair = _pair(
        tmp_path, _rows("alpha 1.0"), _rows("alpha 1.0", speed=1.02, machine=1.6)
    )
    assert machine_speed(pair) == pytest.approx(1.6)
    for ratio in paired_times(pair).values():
        assert ratio is not None
        assert 1 < ratio.value < 1.03
    assert slowdowns([pair]) == []


def test_an_engine_that_became_slower_is_caught(tmp_path: Path) -> None:
    """On a slower machine, too."""
    slow = _rows("alpha 1.0", speed=1.4, machine=1.3)
    pair = _pair(tmp_path, _rows("alpha 1.0"), slow)
    assert slowdowns([pair])[0].startswith("alpha 1.0 takes 1.4x [")
    assert [text.split(" as long ")[1] for text in slowdowns([pair])] == [*TIMES]


def test_machine_speed_is_told_by_engines_that_are_in_both_runs(tmp_path: Path) -> None:
    """What another engine leaves behind makes the work after it slower, no machine."""
    alone = _pair(
        tmp_path / "alone", _rows("alpha 1.0"), _rows("beta 2.0", machine=1.5)
    )
    own = [*_rows("alpha 1.0"), *_rows("same 1.0")]
    then = [*_rows("beta 2.0", machine=1.5), *_rows("same 1.0", machine=1.1)]
    first = open_run(write_run(tmp_path / "first", own))
    second = open_run(write_run(tmp_path / "second", then))
    a, b = compared_engines([first], "masks")[0], compared_engines([second], "masks")[0]
    assert (a.engine, b.engine) == ("alpha 1.0", "beta 2.0")
    known = machine_speed(alone), machine_speed(pair_engines(a, b))
    assert [round(one, 3) for one in known if one] == [1.5, 1.1]


def test_an_older_run_still_compares(tmp_path: Path) -> None:
    """Without calibration work in both runs times are as measured, and it is said."""
    old = [replace(one, calibration_ns=None) for one in _rows("alpha 1.0")]
    pair = _pair(tmp_path, old, _rows("alpha 1.0", speed=1.4))
    assert machine_speed(pair) is None
    assert len(slowdowns([pair])) == len(TIMES)
    tables = compare_runs(run=pair.b.run, baseline=pair.a.run).tables
    (times,) = (table for table in tables if table.title.startswith("Times, paired"))
    assert "without calibration work" in times.note


def test_repetitions_that_lie_apart_say_how_far_others_may(tmp_path: Path) -> None:
    """With such noise a difference of a tenth is none."""
    rows = [
        replace(
            each,
            compile_ns=int((each.compile_ns or 0) * (1.2 if each.repetition else 1.0)),
        )
        for engine, speed in (("alpha 1.0", 1.0), ("beta 2.0", 1.1))
        for each in _rows(engine, speed=speed, repetitions=2)
    ]
    run = open_run(write_run(tmp_path / "noisy", rows))
    noisy = _ratios(run)["to first mask"]
    calm = [*_rows("alpha 1.0"), *_rows("beta 2.0", speed=1.1)]
    run = open_run(write_run(tmp_path / "calm", calm))
    quiet = _ratios(run)["to first mask"]
    assert noisy is not None
    assert noisy.interval is not None
    assert quiet is not None
    assert quiet.interval is not None
    assert noisy.interval.low < 1 < quiet.interval.low
    assert machine_speed(pair_engines(*compared_engines([run], "masks"))) is None


def test_waiting_for_the_core_is_no_time_of_the_engine(tmp_path: Path) -> None:
    """Wherever a time is read: it is taken out of the row, and not by its readers."""
    waited = [
        replace(
            each,
            compile_ns=(each.compile_ns or 0) + 5_000_000,
            compile_waited_ns=5_000_000,
            walks=tuple(
                replace(
                    walk,
                    mask_ns=(*walk.mask_ns[:-1], walk.mask_ns[-1] + 8_950_000),
                    waited_ns=8_950_000,
                )
                for walk in each.walks
            ),
        )
        for each in _rows("beta 2.0")
    ]
    run = open_run(write_run(tmp_path / "run", [*_rows("alpha 1.0"), *waited]))
    calm = open_run(
        write_run(tmp_path / "calm", _rows("alpha 1.0") + _rows("beta 2.0"))
    )
    assert [*run.all_rows()] == [*calm.all_rows()]
    assert overview(run, "masks").tables == overview(calm, "masks").tables
    assert _ratios(run) == _ratios(calm)
    again = open_run(write_run(tmp_path / "again", run.all_rows()))
    assert [*again.all_rows()] == [*run.all_rows()]


def test_near_misses_of_length_bounds_decide_no_comparison(tmp_path: Path) -> None:
    """However long they are."""
    slow = replace(
        blocked(at=3, mask_ns=10**9),
        label={"keyword": "maxLength", "kind": "near_miss"},
    )
    rows = [replace(each, walks=(*each.walks, slow)) for each in _rows("beta 2.0")]
    run = open_run(write_run(tmp_path / "run", [*_rows("alpha 1.0"), *rows]))
    between = _ratios(run)["between masks"]
    assert between is not None
    assert 0.99 < between.value < 1.01


def test_an_engine_stands_beside_itself(tmp_path: Path) -> None:
    """Its slowest repetition by its fastest, and what they did not agree in."""
    rows = [
        replace(
            each,
            compile_ns=(each.compile_ns or 0) * (1 + each.repetition),
            walks=(blocked(valid=True),)
            if each.repetition and each.id == "o3"
            else each.walks,
        )
        for each in _rows("alpha 1.0", repetitions=2)
    ]
    run = open_run(write_run(tmp_path / "run", rows))
    (table,) = (
        each for each in overview(run, "masks").tables if each.slug == "repetitions"
    )
    ((name, count, compiled, _, _, unlike),) = table.rows
    assert (name, count, str(compiled), unlike) == ("alpha 1.0", 2, "2x", 1)


def test_tables_name_the_machine_where_runs_differ_in_it(tmp_path: Path) -> None:
    """Of two runs the times are divided by it."""
    first = open_run(write_run(tmp_path / "a", _rows("alpha 1.0")))
    second = open_run(write_run(tmp_path / "b", _rows("beta 2.0", machine=1.5)))
    compared = compare_runs(run=second, baseline=first)
    (times,) = (each for each in compared.tables if each.title == "Times, paired")
    assert str(times.rows[0][times.columns.index("machine")]) == "1.5x"
    assert str(times.rows[0][3]).startswith("1x [")
