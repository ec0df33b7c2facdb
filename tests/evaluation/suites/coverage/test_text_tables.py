"""Rows and tables of texts: what was written, in what time, and in pairs."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.cases import Result
from evaluation.generation.text_generation import DecodingStep, Generation, TextEnding
from evaluation.reporting.statistics import Quantile, holm, mcnemar
from evaluation.reporting.tables import MissingFigure, Rate, to_json
from evaluation.results.suite_pairs import pair_sides, paired_rates
from evaluation.suites.coverage.efficiency import (
    TextFigures,
    efficiency,
    steps,
    tokens,
)
from evaluation.suites.coverage.report import coverage, outputs
from evaluation.suites.coverage.scorer import Judgement, TextVerdict
from evaluation.suites.coverage.texts import on_common_samples
from tests.evaluation.suites.coverage.written_texts import (
    GENERATIONS,
    LIMITS,
    OK,
    VALID,
    written,
)
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.reporting.tables import Cell
    from evaluation.suites.coverage.texts import GeneratedText


_FAILED: dict[str, Any] = {"id": "x", "ending": TextEnding.ENGINE}
_REFUSED = Generation(**_FAILED, result=Result.COMPILE_ERROR)
_CRASHED = Generation(**_FAILED, result=Result.CRASH)
_COMPILING = Generation(**_FAILED, result=Result.TIMEOUT)


def _side(*generations: Generation) -> list[GeneratedText]:
    return [
        written(made, VALID if made is OK else None, subject=f"o{index}")
        for index, made in enumerate(generations)
    ]


@pytest.mark.parametrize(
    ("sides", "rows", "left_out"),
    [
        # A schema that one engine refuses is in nobody's times (section 4.1).
        (
            {"strict": _side(OK, _REFUSED), "loose": _side(OK, OK)},
            [("strict", 1, 1), ("loose", 1, 1)],
            (),
        ),
        # An engine that always crashes leaves the others their times, and is named.
        (
            {"dies": _side(*[_CRASHED] * 3), "lives": _side(OK, OK, OK)},
            [("lives", 3, 3)],
            ("dies",),
        ),
    ],
    ids=["refused", "crashes"],
)
def test_times_are_compared_on_what_all_engines_wrote(
    sides: dict[str, list[GeneratedText]],
    rows: list[tuple[str, int, int]],
    left_out: tuple[str, ...],
) -> None:
    """Engine, schemas and texts of each row."""
    common = on_common_samples(sides)
    assert common.left_out == left_out
    table = efficiency(common, LIMITS)
    assert [row[1:4] for row in table.rows] == rows
    assert all(name in table.note for name in left_out)


def test_what_is_cut_off_is_at_least_that() -> None:
    """A used-up budget bounds the whole and its tokens, a deadline what it ended."""
    truncated = replace(OK, ending=TextEnding.TRUNCATED)
    late = replace(OK, result=Result.TIMEOUT, ending=TextEnding.TIMEOUT)
    figures = TextFigures(LIMITS)
    assert figures.total(OK) == Quantile(20_000_000)
    assert figures.total(truncated) == Quantile(20_000_000, at_least=True)
    assert figures.first_token(truncated) == Quantile(5_000_000)
    assert tokens(truncated) == Quantile(3, at_least=True)
    assert figures.total(late) == Quantile(30_000_000_000, at_least=True)
    assert figures.first_token(late) == Quantile(5_000_000)
    assert figures.compile(_COMPILING) == Quantile(40_000_000_000, at_least=True)
    assert figures.first_token(_COMPILING) == Quantile(40_000_000_000, at_least=True)
    assert figures.per_token(_COMPILING) is None
    assert figures.compile(_REFUSED) is None
    # A text that took longer than its deadline took that; without either it is unknown.
    took = Quantile(20_000_000, at_least=True)
    assert (
        TextFigures(msgspec.structs.replace(LIMITS, run_seconds=0.001)).total(late)
        == took
    )
    endless = TextFigures(msgspec.structs.replace(LIMITS, run_seconds=None))
    assert endless.total(late) == took
    assert endless.total(replace(late, total_ns=None)) is None


def test_time_outs_stay_in_the_table() -> None:
    """The median of a time that half of the texts never reached is a lower bound."""
    side = _side(OK, _COMPILING, _COMPILING)
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
            figures = to_json(cell)
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
        # The first pass is the prompt's.
        assert (row[1], row[-1]) == (len(made.steps) - 1, 1)
    forced = replace(OK, tokens=(1,) * 7, steps=(step,) * 4)
    table = steps({"some": [written(forced, VALID)]})
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    assert cells["tokens per pass"] == 2
    assert str(cells["loop"]) == "2 ns [2 ns, 2 ns]"
    assert cells["mask"] is None


def _samples(good: Sequence[Sequence[bool]], engine: str) -> list[GeneratedText]:
    """Return texts of which those that are good are compliant, a list a schema."""
    invalid = replace(VALID, own=TextVerdict.INVALID)
    return [
        written(
            OK,
            VALID if is_good else invalid,
            subject=f"o{i}",
            engine=engine,
            repeat=repeat,
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
        name: [text.scored for text in _samples(good, name)]
        for name, good in sides.items()
    }
    return paired_rates(pair_sides(scored)).rows


def test_engines_are_compared_in_pairs_by_schema() -> None:
    """One text a schema is McNemar's test; the same twenty times over is no other.

    With three engines there are three lines, and Holm's p are no smaller.
    """
    a, b = [[True], [False], [False], [False]], [[True], [True], [True], [True]]
    (once,) = _paired(a=a, b=b)
    (often,) = _paired(a=[texts * 20 for texts in a], b=[texts * 20 for texts in b])
    assert once[-1] == often[-1] == mcnemar(0, 3)
    assert once[6] == often[6]
    rows = _paired(**{
        name: [[i < count] for i in range(12)]
        for name, count in (("a", 2), ("b", 8), ("c", 12))
    })  # fmt: skip
    assert len(rows) == 3
    ps = {place: p for place, row in enumerate(rows) if isinstance(p := row[-2], float)}
    assert {place: row[-1] for place, row in enumerate(rows)} == holm(ps)


_JUDGEMENTS = st.none() | st.builds(
    Judgement,
    is_json=st.booleans(),
    own=st.sampled_from(TextVerdict),
    paper=st.sampled_from(TextVerdict),
    trivial=st.booleans(),
)
_WRITTEN = (TextEnding.END, TextEnding.TRUNCATED, TextEnding.DEAD_END)


@given(generation=GENERATIONS, judgement=_JUDGEMENTS)
def test_a_line_gives_back_what_was_written(
    generation: Generation, judgement: Judgement | None
) -> None:
    """Written as a line of a run and read again, nothing is lost or changed."""
    text = written(generation, judgement)
    assert text.generation == generation
    assert text.judgement == judgement


@given(st.lists(st.tuples(GENERATIONS, _JUDGEMENTS), min_size=1, max_size=6))
def test_every_text_is_counted_once(
    made: Sequence[tuple[Generation, Judgement | None]],
) -> None:
    """No rate has another denominator than the texts, or those declared."""
    side = [
        # Only a text that was written is judged.
        written(
            each,
            judgement if each.generated and each.ending in _WRITTEN else None,
            subject=f"o{i}",
        )
        for i, (each, judgement) in enumerate(made)
    ]
    _, _, declared, empirical, compliance, *_ = coverage({"some": side}).rows[0]
    assert isinstance(declared, Rate)
    assert isinstance(empirical, Rate)
    assert isinstance(compliance, Rate)
    assert declared.of == sum(each.is_declaration_known for each in side)
    assert empirical.of == len(made)
    assert compliance.of == declared.count
    assert compliance.count == empirical.count <= declared.count


@pytest.mark.parametrize(
    ("facts", "passes"),
    [
        ({}, 3),
        ({"ending": TextEnding.TRUNCATED}, 2),
        ({"ttft_ns": None}, None),
        # What a server sends at once, or does not count, gives no TPOT.
        ({"tokens": (), "pieces": 3, "counted": 4}, 3),
        ({"tokens": (), "pieces": 1, "counted": 4}, None),
        ({"tokens": (), "pieces": 3, "counted": None}, None),
    ],
    ids=str,
)
def test_times_have_the_papers_definitions(
    facts: dict[str, Any], passes: int | None
) -> None:
    """TPOT is over what follows the first token, the end too; TTFT with compile."""
    assert replace(OK, **facts).tpot_ns == (passes and 15_000_000 / passes)


@pytest.mark.parametrize(
    ("facts", "is_begun", "declared"), table(__file__, "declared"), ids=str
)
def test_a_schema_is_declared_that_was_taken_and_never_raised(
    facts: dict[str, Any], *, is_begun: bool, declared: bool
) -> None:
    """Definition 5.1: neither refused nor ended by a crash or an exception, ever.

    A deadline while a text is written is no crash, and a model's failure none of the
    engine's. Without a grammar and a first token nobody has taken the schema.
    """
    began = asdict(OK) if is_begun else {"id": "x"}
    made = msgspec.convert(began | facts, Generation)
    assert written(made, None).declared is declared


def test_a_servers_silence_says_nothing_of_the_schema() -> None:
    """Where no byte came in time the share is of none; what came counts."""
    late: dict[str, Any] = {
        "id": "x",
        "result": Result.TIMEOUT,
        "ending": TextEnding.TIMEOUT,
    }
    silent = written(Generation(**late, pieces=0), None)
    assert coverage({"some": [silent] * 10}).rows[0][2] == Rate(0, 0)
    begun = written(Generation(**late, pieces=2, ttft_ns=5), None)
    assert coverage({"some": [silent, begun]}).rows[0][2] == Rate(1, 1)
    here = written(Generation(**late), None)
    assert coverage({"some": [silent, here]}).rows[0][2] == Rate(0, 1)


def test_without_an_engine_there_is_nothing_to_declare() -> None:
    """The unconstrained row has no declared coverage, neither 0 nor all."""
    side = [written(OK, VALID, engine="none")]
    row = coverage({"none": side}).rows[0]
    assert isinstance(row[2], MissingFigure)
    assert row[3] == Rate(1, 1)


def test_what_texts_cost_is_added_up_and_never_zero_for_nothing() -> None:
    """Where prices were given the table has the sum; without them it has none."""
    paid = [written(replace(OK, cost=0.25), VALID, subject=f"o{i}") for i in range(2)]
    free = [written(OK, VALID)]
    table = outputs({"paid": paid, "free": free})
    assert [row[-1] for row in table.rows] == [0.5, None]
