"""A generation comes back from its row as it went in; tables count what is there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.cases import Result, Sample
from evaluation.generation.generated_texts import on_common_samples
from evaluation.generation.generation_rows import (
    GeneratedText,
    row_from_generation,
    text_from_row,
)
from evaluation.generation.judgement import Judgement, TextVerdict
from evaluation.generation.requests import GenerationRequest
from evaluation.generation.text_generation import DecodingStep, Generation, TextEnding
from evaluation.reporting.tables import MissingFigure, Rate
from evaluation.results.row_parser import parse_row
from evaluation.tasks.coverage.report import coverage, outcomes, outputs
from evaluation.tasks.efficiency.report import efficiency

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
) -> GeneratedText:
    row = row_from_generation(
        replace(generation, id=subject),
        GenerationRequest(sample=replace(_SUBJECT, id=subject), messages=(), budget=9),
        engine=engine,
        judgement=judgement,
        fingerprint="f",
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
    assert [len(found) for found in common.values()] == [1, 1]
    table = efficiency({name: list(found.values()) for name, found in common.items()})
    assert [row[2] for row in table.rows] == [1, 1]


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


def test_what_texts_cost_is_added_up_and_never_zero_for_nothing() -> None:
    """Where prices were given the table has the sum; without them it has none."""
    paid = [_text(replace(_OK, cost=0.25), _VALID, subject=f"o{i}") for i in range(2)]
    free = [_text(_OK, _VALID)]
    table = outputs({"paid": paid, "free": free})
    assert [row[-1] for row in table.rows] == [0.5, None]
