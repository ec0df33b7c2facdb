"""A generation comes back from its row as it went in; tables count what is there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.cases import Result, Sample
from evaluation.core.run_header import LimitsHeader
from evaluation.generation.generated_texts import on_common_samples
from evaluation.generation.generation_rows import (
    GeneratedText,
    row_from_generation,
    text_from_row,
)
from evaluation.generation.judgement import Judgement, TextClass, TextVerdict
from evaluation.generation.requests import GenerationRequest
from evaluation.generation.text_generation import (
    DecidedApart,
    DecodingStep,
    Generation,
    TextEnding,
)
from evaluation.reporting.quantiles import Quantile
from evaluation.reporting.statistics import holm, mcnemar
from evaluation.reporting.tables import MissingFigure, Rate, Ratio, json_of
from evaluation.results.row_parser import parse_row
from evaluation.tasks.coverage.batches import decided_apart
from evaluation.tasks.coverage.paired import paired
from evaluation.tasks.coverage.report import coverage, outcomes, outputs
from evaluation.tasks.efficiency.figures import TextFigures, tokens
from evaluation.tasks.efficiency.report import efficiency, pairs, steps

if TYPE_CHECKING:
    from collections.abc import Sequence

_NS = st.integers(0, 2**50)
_STEPS = st.lists(
    st.builds(
        DecodingStep,
        fed=st.integers(0, 99),
        forward_ns=_NS,
        mask_ns=st.none() | _NS,
        wait_ns=st.none() | _NS,
    ),
    max_size=4,
).map(tuple)
_GENERATIONS = st.builds(
    Generation,
    id=st.just("o1"),
    result=st.sampled_from(Result),
    ending=st.sampled_from(TextEnding),
    detail=st.text(max_size=5),
    warnings=st.lists(st.text(max_size=5), max_size=2).map(tuple),
    text=st.text(),
    tokens=st.lists(st.integers(0, 9), max_size=5).map(tuple),
    forced=st.integers(0, 5),
    compile_ns=st.none() | _NS,
    compile_wait_ns=st.none() | _NS,
    prefill_ns=st.none() | _NS,
    ttft_ns=st.none() | _NS,
    total_ns=st.none() | _NS,
    steps=_STEPS,
    reasoning=st.text(max_size=5),
    tagged=st.booleans(),
    counted=st.none() | st.integers(0, 9),
    reasoning_tokens=st.none() | st.integers(0, 9),
    pieces=st.none() | st.integers(0, 9),
    adapted=st.sampled_from(["", "{}"]),
    edits=st.lists(st.text(max_size=5), max_size=2).map(tuple),
)
_JUDGEMENTS = st.none() | st.builds(
    Judgement,
    is_json=st.booleans(),
    own=st.sampled_from(TextVerdict),
    paper=st.sampled_from(TextVerdict),
    adapted=st.none() | st.sampled_from(TextVerdict),
    trivial=st.booleans(),
)
_WRITTEN = (TextEnding.END, TextEnding.TRUNCATED, TextEnding.DEAD_END)
_SUBJECT = Sample(id="o1", config="Github_easy", split="test", schema="{}", dialect="")


def _text(
    generation: Generation,
    judgement: Judgement | None,
    *,
    engine: str = "some 1.0 faithful",
    subject: str = "o1",
    class_in_batch: TextClass | None = None,
) -> GeneratedText:
    row = row_from_generation(
        replace(generation, id=subject),
        GenerationRequest(sample=replace(_SUBJECT, id=subject), messages=(), budget=9),
        engine=engine,
        judgement=judgement,
        fingerprint="f",
        class_in_batch=class_in_batch,
    )
    return text_from_row(parse_row(orjson.dumps(row)))


@given(generation=_GENERATIONS, judgement=_JUDGEMENTS)
def test_a_line_gives_back_what_was_written(
    generation: Generation, judgement: Judgement | None
) -> None:
    """Written as a line of a run and read again, nothing is lost or changed."""
    text = _text(generation, judgement)
    assert text.generation == generation
    assert text.judgement == judgement


@given(st.lists(st.tuples(_GENERATIONS, _JUDGEMENTS), min_size=1, max_size=6))
def test_every_text_is_counted_once(
    made: Sequence[tuple[Generation, Judgement | None]],
) -> None:
    """The classes add up to the texts, and no rate has another denominator."""
    side = [
        # Only a text that was written is judged.
        _text(
            each,
            judgement if each.generated and each.ending in _WRITTEN else None,
            subject=f"o{i}",
        )
        for i, (each, judgement) in enumerate(made)
    ]
    table = outcomes({"some": side})
    assert sum(table.rows[0][2:]) == len(made)  # type: ignore[arg-type]  # cells are numbers
    _, _, declared, empirical, compliance, *_ = coverage({"some": side}).rows[0]
    assert isinstance(declared, Rate)
    assert isinstance(empirical, Rate)
    assert isinstance(compliance, Rate)
    assert declared.of == empirical.of == len(made)
    assert compliance.of == declared.count
    assert compliance.count == empirical.count <= declared.count


_LIMITS = LimitsHeader(compile_seconds=40.0, run_seconds=30.0)
_OK = Generation(
    id="x",
    result=Result.OK,
    ending=TextEnding.END,
    tokens=(1, 2, 3),
    compile_ns=1_000_000,
    ttft_ns=5_000_000,
    total_ns=20_000_000,
)
_VALID = Judgement(is_json=True, own=TextVerdict.VALID, paper=TextVerdict.INVALID)


def test_times_are_compared_on_what_all_engines_wrote() -> None:
    """A schema that one engine refuses is in nobody's times (section 4.1)."""
    refused = Generation(id="x", result=Result.COMPILE_ERROR, ending=TextEnding.ENGINE)
    sides = {
        "strict": [
            _text(_OK, _VALID, subject="o1"),
            _text(refused, None, subject="o2"),
        ],
        "loose": [_text(_OK, _VALID, subject="o1"), _text(_OK, _VALID, subject="o2")],
    }
    common = on_common_samples(sides)
    assert [len(found) for found in common.sides.values()] == [1, 1]
    table = efficiency(common, _LIMITS)
    assert [row[2] for row in table.rows] == [1, 1]


def test_an_engine_that_always_crashes_leaves_the_others_their_times() -> None:
    """It is left out and named: it has nothing in common with anybody."""
    crashed = Generation(id="x", result=Result.CRASH, ending=TextEnding.ENGINE)
    sides = {
        "dies": [_text(crashed, None, subject=f"o{i}") for i in range(3)],
        "lives": [_text(_OK, _VALID, subject=f"o{i}") for i in range(3)],
    }
    common = on_common_samples(sides)
    assert (list(common.sides), common.left_out) == (["lives"], ("dies",))
    table = efficiency(common, _LIMITS)
    assert [row[:4] for row in table.rows] == [("Github_easy", "lives", 3, 3)]
    assert "dies" in table.note


def test_what_is_cut_off_is_at_least_that() -> None:
    """A used-up budget bounds the whole and its tokens, a deadline what it ended."""
    truncated = replace(_OK, ending=TextEnding.TRUNCATED)
    late = replace(_OK, result=Result.TIMEOUT, ending=TextEnding.TIMEOUT)
    compiling = Generation(id="x", result=Result.TIMEOUT, ending=TextEnding.ENGINE)
    figures = TextFigures(_LIMITS)
    assert figures.total(_OK) == Quantile(20_000_000)
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
    side = [_text(_OK, _VALID, subject="o0")]
    side += [_text(compiling, None, subject=f"o{i}") for i in (1, 2)]
    table = efficiency(on_common_samples({"slow": side}), _LIMITS)
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    assert cells["texts"] == 3
    assert str(cells["GCT"]) == "≥ 40.0 s [≥ 20.0 s, ≥ 40.0 s]"
    assert str(cells["TPOT"]) == "5.00 ms [5.00 ms, 5.00 ms]"


@settings(max_examples=30)
@given(st.lists(_GENERATIONS, max_size=5))
def test_no_figure_of_efficiency_is_text(made: Sequence[Generation]) -> None:
    """In JSON and CSV every figure is a number, its unit in its name."""
    side = [_text(one, None, subject=f"o{i}") for i, one in enumerate(made)]
    table = efficiency(on_common_samples({"some": side}), _LIMITS)
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
    ended = replace(_OK, steps=(step,) * 4)
    cut_off = replace(_OK, ending=TextEnding.TRUNCATED, steps=(step,) * 3)
    dead = replace(_OK, ending=TextEnding.DEAD_END, steps=(step,) * 4)
    for made in (ended, cut_off, dead):
        (row,) = steps({"some": [_text(made, _VALID)]}).rows
        assert row[-1] == 1
    forced = replace(_OK, tokens=(1,) * 7, steps=(step,) * 4)
    (row,) = steps({"some": [_text(forced, _VALID)]}).rows
    assert row[-1] == 2
    assert str(row[5]) == "2 ns [2 ns, 2 ns]"


def _samples(good: Sequence[Sequence[bool]], engine: str) -> list[GeneratedText]:
    """Return texts of which those that are good are compliant, a list a schema."""
    invalid = replace(_VALID, own=TextVerdict.INVALID)
    return [
        replace(
            _text(_OK, _VALID if is_good else invalid, subject=f"o{i}", engine=engine),
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


def test_engines_are_compared_in_pairs_by_schema() -> None:
    """One text a schema is McNemar's test; the same twenty times over is no other."""
    a, b = [[True], [False], [False], [False]], [[True], [True], [True], [True]]
    once = paired({"a": _samples(a, "a"), "b": _samples(b, "b")}).rows[0]
    often = paired(
        {
            "a": _samples([texts * 20 for texts in a], "a"),
            "b": _samples([texts * 20 for texts in b], "b"),
        }
    ).rows[0]
    assert once[2] == often[2] == 4
    assert once[-2] == often[-2] == mcnemar(0, 3)
    assert once[7] == often[7]


def test_p_values_of_a_table_are_adjusted_together() -> None:
    """With three engines there are three lines, and Holm's p are no smaller."""
    sides = {
        name: _samples([[i < count] for i in range(12)], name)
        for name, count in (("a", 2), ("b", 8), ("c", 12))
    }
    rows = paired(sides).rows
    assert len(rows) == 3
    ps = {place: p for place, row in enumerate(rows) if isinstance(p := row[-2], float)}
    assert {place: row[-1] for place, row in enumerate(rows)} == holm(ps)


def test_times_are_compared_in_pairs() -> None:
    """TPOT of b over a with its p, over schemas; what was cut off is out of TGT."""
    slow = replace(_OK, total_ns=35_000_000)
    cut = replace(slow, ending=TextEnding.TRUNCATED)
    a = [_text(_OK, _VALID, subject=f"o{i}") for i in range(9)]
    b = [_text(slow if i else cut, _VALID, subject=f"o{i}") for i in range(9)]
    (row,) = pairs({"a": a, "b": b}, _LIMITS).rows
    assert row[:3] == ("a", "b", 9)
    assert isinstance(row[4], Ratio)
    assert row[4].value == pytest.approx(2, abs=0.2)
    assert isinstance(row[5], float)
    assert row[5] < 0.05
    assert row[8] == 1


def test_times_have_the_papers_definitions() -> None:
    """TPOT is over what follows the first token, the end too; TTFT with compile."""
    assert _OK.tpot_ns == 15_000_000 / 3
    assert replace(_OK, ending=TextEnding.TRUNCATED).tpot_ns == 15_000_000 / 2
    waited = replace(_OK, compile_wait_ns=2_000_000)
    assert waited.ttft_without_compile_ns == 3_000_000
    assert replace(_OK, ttft_ns=None).tpot_ns is None


@pytest.mark.parametrize(
    ("facts", "declared"),
    [
        ({}, True),
        ({"ending": TextEnding.TRUNCATED}, True),
        ({"ending": TextEnding.DEAD_END}, True),
        ({"result": Result.TIMEOUT, "ending": TextEnding.TIMEOUT}, True),
        ({"result": Result.TIMEOUT, "ending": TextEnding.ENGINE}, True),
        ({"result": Result.CRASH, "ending": TextEnding.ENGINE}, False),
        ({"result": Result.ERROR, "ending": TextEnding.ENGINE}, False),
        ({"result": Result.OUT_OF_MEMORY, "ending": TextEnding.ENGINE}, False),
        ({"result": Result.COMPILE_ERROR, "ending": TextEnding.ENGINE}, False),
        ({"result": Result.ERROR, "ending": TextEnding.MODEL}, True),
    ],
)
def test_what_compiles_and_then_crashes_is_not_declared(
    facts: dict[str, Any], *, declared: bool
) -> None:
    """Definition 5.1: neither refused nor ended by a crash or an exception, ever.

    A deadline while a text is written is no crash, and a model's failure none of the
    engine's.
    """
    assert _text(replace(_OK, **facts), None).declared is declared


@pytest.mark.parametrize(
    ("facts", "declared"),
    [
        ({"result": Result.TIMEOUT, "ending": TextEnding.ENGINE}, False),
        ({"result": Result.TIMEOUT, "ending": TextEnding.MODEL}, False),
        ({"result": Result.ERROR, "ending": TextEnding.MODEL}, False),
        ({"result": Result.ERROR, "ending": TextEnding.PROMPT}, False),
        ({"result": Result.ERROR, "ending": TextEnding.REQUEST}, False),
        ({"result": Result.OK, "ending": TextEnding.REFUSED}, True),
        ({"result": Result.TIMEOUT, "ending": TextEnding.TIMEOUT, "ttft_ns": 5}, True),
    ],
)
def test_what_never_began_declares_nothing(
    facts: dict[str, Any], *, declared: bool
) -> None:
    """Without a grammar and without a first token nobody has taken the schema."""
    assert _text(Generation(id="x", **facts), None).declared is declared


def test_one_piece_has_no_time_per_token() -> None:
    """What a server sends at once, or does not count, gives no TPOT."""
    asked = replace(_OK, tokens=(), pieces=3, counted=4)
    assert asked.tpot_ns == 15_000_000 / 3
    assert replace(asked, pieces=1).tpot_ns is None
    assert replace(asked, counted=None).tpot_ns is None
    assert replace(asked, counted=None).length is None


def test_without_an_engine_there_is_nothing_to_declare() -> None:
    """The unconstrained row has no declared coverage, neither 0 nor all."""
    side = [_text(_OK, _VALID, engine="none")]
    row = coverage({"none": side}).rows[0]
    assert isinstance(row[2], MissingFigure)
    assert row[3] == Rate(1, 1)


def test_what_a_batch_turned_is_counted() -> None:
    """Texts written again alone have a line, with other texts and other classes."""
    same = replace(_OK, apart=DecidedApart.SAME)
    other = replace(
        _OK,
        apart=DecidedApart.OTHER,
        batch_text="{",
        batch_ending=TextEnding.TRUNCATED,
    )
    side = [
        _text(_OK, _VALID, subject="o1"),
        _text(same, _VALID, subject="o2"),
        _text(other, _VALID, subject="o3", class_in_batch=TextClass.TRUNCATED),
        _text(other, _VALID, subject="o4", class_in_batch=TextClass.COMPLIANT),
    ]
    (row,) = decided_apart({"some": side, "alone": [_text(_OK, _VALID)]}).rows
    counts = [(rate.count, rate.of) for rate in row[1:] if isinstance(rate, Rate)]
    assert counts == [(3, 4), (2, 3), (1, 3)]


def test_what_texts_cost_is_added_up_and_never_zero_for_nothing() -> None:
    """Where prices were given the table has the sum; without them it has none."""
    paid = [_text(replace(_OK, cost=0.25), _VALID, subject=f"o{i}") for i in range(2)]
    free = [_text(_OK, _VALID)]
    table = outputs({"paid": paid, "free": free})
    assert [row[-1] for row in table.rows] == [0.5, None]
