"""A generation comes back from its row as it went in; tables count what is there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.cases import Result
from evaluation.generation.text_generation import Generation, TextEnding
from evaluation.reporting.tables import MissingFigure, Rate
from evaluation.suites.coverage.judgement import Judgement, TextVerdict
from evaluation.suites.coverage.report import coverage, outputs
from tests.evaluation.suites.coverage.written_texts import (
    GENERATIONS,
    OK,
    VALID,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def test_times_have_the_papers_definitions() -> None:
    """TPOT is over what follows the first token, the end too; TTFT with compile."""
    assert OK.tpot_ns == 15_000_000 / 3
    assert replace(OK, ending=TextEnding.TRUNCATED).tpot_ns == 15_000_000 / 2
    waited = replace(OK, compile_wait_ns=2_000_000)
    assert waited.ttft_without_compile_ns == 3_000_000
    assert replace(OK, ttft_ns=None).tpot_ns is None


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
    assert written(replace(OK, **facts), None).declared is declared


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
    assert written(Generation(id="x", **facts), None).declared is declared


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


def test_one_piece_has_no_time_per_token() -> None:
    """What a server sends at once, or does not count, gives no TPOT."""
    asked = replace(OK, tokens=(), pieces=3, counted=4)
    assert asked.tpot_ns == 15_000_000 / 3
    assert replace(asked, pieces=1).tpot_ns is None
    assert replace(asked, counted=None).tpot_ns is None
    assert replace(asked, counted=None).length is None


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
