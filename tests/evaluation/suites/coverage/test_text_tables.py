"""Tables of texts: times and shares over what engines wrote, and in pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.cases import Result
from evaluation.core.records import Verdict
from evaluation.core.suite import ScoredResponse
from evaluation.generation.text_generation import DecodingStep, Generation, TextEnding
from evaluation.reporting.quantiles import Quantile
from evaluation.reporting.statistics import holm, mcnemar
from evaluation.reporting.tables import Ratio, json_of
from evaluation.results.suite_pairs import pair_sides, paired_rates
from evaluation.suites.coverage.efficiency import (
    TextFigures,
    efficiency,
    pairs,
    steps,
    tokens,
)
from evaluation.suites.coverage.judgement import TextVerdict
from evaluation.suites.coverage.report import coverage
from evaluation.suites.coverage.texts import on_common_samples
from tests.evaluation.suites.coverage.written_texts import (
    GENERATIONS,
    LIMITS,
    OK,
    VALID,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.reporting.tables import Cell
    from evaluation.suites.coverage.texts import GeneratedText


def test_times_are_compared_on_what_all_engines_wrote() -> None:
    """A schema that one engine refuses is in nobody's times (section 4.1)."""
    refused = Generation(id="x", result=Result.COMPILE_ERROR, ending=TextEnding.ENGINE)
    sides = {
        "strict": [
            written(OK, VALID, subject="o1"),
            written(refused, None, subject="o2"),
        ],
        "loose": [written(OK, VALID, subject="o1"), written(OK, VALID, subject="o2")],
    }
    common = on_common_samples(sides)
    assert [len(found) for found in common.sides.values()] == [1, 1]
    table = efficiency(common, LIMITS)
    assert [row[2] for row in table.rows] == [1, 1]


def test_an_engine_that_always_crashes_leaves_the_others_their_times() -> None:
    """It is left out and named: it has nothing in common with anybody."""
    crashed = Generation(id="x", result=Result.CRASH, ending=TextEnding.ENGINE)
    sides = {
        "dies": [written(crashed, None, subject=f"o{i}") for i in range(3)],
        "lives": [written(OK, VALID, subject=f"o{i}") for i in range(3)],
    }
    common = on_common_samples(sides)
    assert (list(common.sides), common.left_out) == (["lives"], ("dies",))
    table = efficiency(common, LIMITS)
    assert [row[:4] for row in table.rows] == [("Github_easy", "lives", 3, 3)]
    assert "dies" in table.note


def test_what_is_cut_off_is_at_least_that() -> None:
    """A used-up budget bounds the whole and its tokens, a deadline what it ended."""
    truncated = replace(OK, ending=TextEnding.TRUNCATED)
    late = replace(OK, result=Result.TIMEOUT, ending=TextEnding.TIMEOUT)
    compiling = Generation(id="x", result=Result.TIMEOUT, ending=TextEnding.ENGINE)
    figures = TextFigures(LIMITS)
    assert figures.total(OK) == Quantile(20_000_000)
    assert figures.total(truncated) == Quantile(20_000_000, at_least=True)
    assert figures.first_token(truncated) == Quantile(5_000_000)
    assert tokens(truncated) == Quantile(3, at_least=True)
    assert figures.total(late) == Quantile(30_000_000_000, at_least=True)
    assert figures.first_token(late) == Quantile(5_000_000)
    assert figures.compile(compiling) == Quantile(40_000_000_000, at_least=True)
    assert figures.first_token(compiling) == Quantile(40_000_000_000, at_least=True)
    assert figures.first_token_without_compile(compiling) is None
    assert figures.per_token(compiling) is None
    refused = Generation(id="x", result=Result.COMPILE_ERROR, ending=TextEnding.ENGINE)
    assert figures.compile(refused) is None


def test_time_outs_stay_in_the_table() -> None:
    """The median of a time that half of the texts never reached is a lower bound."""
    compiling = Generation(id="x", result=Result.TIMEOUT, ending=TextEnding.ENGINE)
    side = [written(OK, VALID, subject="o0")]
    side += [written(compiling, None, subject=f"o{i}") for i in (1, 2)]
    table = efficiency(on_common_samples({"slow": side}), LIMITS)
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    assert cells["texts"] == 3
    assert str(cells["GCT"]) == "≥ 40.0 s [≥ 20.0 s, ≥ 40.0 s]"
    assert str(cells["TPOT"]) == "5.00 ms [5.00 ms, 5.00 ms]"


@settings(max_examples=30)
@given(st.lists(GENERATIONS, max_size=5))
def test_no_figure_of_efficiency_iswritten(made: Sequence[Generation]) -> None:
    """In JSON and CSV every figure is a number, its unit in its name."""
    side = [written(one, None, subject=f"o{i}") for i, one in enumerate(made)]
    table = efficiency(on_common_samples({"some": side}), LIMITS)
    for row in table.rows:
        for cell in row[4:]:
            figures = json_of(cell)
            assert figures is None or isinstance(figures, dict)
            for name, figure in (figures or {}).items():
                assert name.endswith((" ns", " tokens", " at_least"))
                assert isinstance(figure, int | float | bool)


def test_nothing_forced_is_one_token_a_pass() -> None:
    """A text that ends has a pass for each token and one for its end."""
    step = DecodingStep(fed=1, forward_ns=9, mask_ns=None, wait_ns=None, loop_ns=2)
    ended = replace(OK, steps=(step,) * 4)
    cut_off = replace(OK, ending=TextEnding.TRUNCATED, steps=(step,) * 3)
    dead = replace(OK, ending=TextEnding.DEAD_END, steps=(step,) * 4)
    for made in (ended, cut_off, dead):
        (row,) = steps({"some": [written(made, VALID)]}).rows
        assert row[-1] == 1
    forced = replace(OK, tokens=(1,) * 7, steps=(step,) * 4)
    (row,) = steps({"some": [written(forced, VALID)]}).rows
    assert row[-1] == 2
    assert str(row[5]) == "2 ns [2 ns, 2 ns]"


def _samples(good: Sequence[Sequence[bool]], engine: str) -> list[GeneratedText]:
    """Return texts of which those that are good are compliant, a list a schema."""
    invalid = replace(VALID, own=TextVerdict.INVALID)
    return [
        replace(
            written(OK, VALID if is_good else invalid, subject=f"o{i}", engine=engine),
            sample=repeat,
        )
        for i, texts in enumerate(good)
        for repeat, is_good in enumerate(texts)
    ]


def test_samples_of_a_schema_are_no_independent_texts() -> None:
    """Twenty texts for each of three schemas, all valid, are three successes."""
    side = _samples([[True] * 20] * 3, "some 1.0")
    row = coverage({"some": side}).rows[0]
    assert str(row[3]) == "100.0 % [43.9, 100.0] (60 of 60)"


def _paired(**sides: Sequence[Sequence[bool]]) -> Sequence[Sequence[Cell]]:
    scored = {
        name: [
            ScoredResponse(
                record=f"o{i}",
                group="",
                repeat=repeat,
                model=name,
                condition="free",
                verdicts=(Verdict(passed=is_good),),
            )
            for i, texts in enumerate(good)
            for repeat, is_good in enumerate(texts)
        ]
        for name, good in sides.items()
    }
    return paired_rates(pair_sides(scored)).rows


def test_engines_are_compared_in_pairs_by_schema() -> None:
    """One text a schema is McNemar's test; the same twenty times over is no other."""
    a, b = [[True], [False], [False], [False]], [[True], [True], [True], [True]]
    (once,) = _paired(a=a, b=b)
    (often,) = _paired(a=[texts * 20 for texts in a], b=[texts * 20 for texts in b])
    assert once[-1] == often[-1] == mcnemar(0, 3)
    assert once[6] == often[6]


def test_p_values_of_a_table_are_adjusted_together() -> None:
    """With three engines there are three lines, and Holm's p are no smaller."""
    sides = {
        name: [[i < count] for i in range(12)]
        for name, count in (("a", 2), ("b", 8), ("c", 12))
    }
    rows = _paired(**sides)
    assert len(rows) == 3
    ps = {place: p for place, row in enumerate(rows) if isinstance(p := row[-2], float)}
    assert {place: row[-1] for place, row in enumerate(rows)} == holm(ps)


def test_times_are_compared_in_pairs() -> None:
    """TPOT of b over a with its p, over schemas; what was cut off is out of TGT."""
    slow = replace(OK, total_ns=35_000_000)
    cut = replace(slow, ending=TextEnding.TRUNCATED)
    a = [written(OK, VALID, subject=f"o{i}") for i in range(9)]
    b = [written(slow if i else cut, VALID, subject=f"o{i}") for i in range(9)]
    (row,) = pairs({"a": a, "b": b}, LIMITS).rows
    assert row[:3] == ("a", "b", 9)
    assert isinstance(row[4], Ratio)
    assert row[4].value == pytest.approx(2, abs=0.2)
    assert isinstance(row[5], float)
    assert row[5] < 0.05
    assert row[7] == 1
