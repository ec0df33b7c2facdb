"""Texts as a run has them: written as a row and read again."""

from __future__ import annotations

from dataclasses import asdict, replace

from hypothesis import strategies as st

from evaluation.core.cases import Result, Row
from evaluation.core.records import Verdict
from evaluation.core.run_header import LimitsHeader, RunHeader
from evaluation.core.suite import ScoredResponse
from evaluation.generation.text_generation import DecodingStep, Generation, TextEnding
from evaluation.results.attempts import make_line
from evaluation.results.reader import parse_line
from evaluation.results.suite_rows import row_from_scored, scored_from_row
from evaluation.suites.coverage.scorer import (
    Judgement,
    TextClass,
    TextVerdict,
    classify,
)
from evaluation.suites.coverage.texts import GeneratedText, to_text

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
#: Any text, as far as a row can hold it.
GENERATIONS = st.builds(
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
    ttft_ns=st.none() | _NS,
    total_ns=st.none() | _NS,
    steps=_STEPS,
    reasoning=st.text(max_size=5),
    tagged=st.booleans(),
    counted=st.none() | st.integers(0, 9),
    reasoning_tokens=st.none() | st.integers(0, 9),
    pieces=st.none() | st.integers(0, 9),
    undecoded=st.text(max_size=5),
    adapted=st.sampled_from(["", "{}"]),
    edits=st.lists(st.text(max_size=5), max_size=2).map(tuple),
)
#: Deadlines of a run.
LIMITS = LimitsHeader(compile_seconds=40.0, run_seconds=30.0)
#: A text of three tokens.
OK = Generation(
    id="x",
    result=Result.OK,
    ending=TextEnding.END,
    tokens=(1, 2, 3),
    compile_ns=1_000_000,
    ttft_ns=5_000_000,
    total_ns=20_000_000,
)
#: Valid by its own dialect.
VALID = Judgement(is_json=True, own=TextVerdict.VALID, paper=TextVerdict.INVALID)


def row_of(  # noqa: PLR0913 (the parts of a row)
    generation: Generation,
    judgement: Judgement | None,
    *,
    engine: str = "some 1.0 faithful",
    config: str = "Github_easy",
    repeat: int = 0,
    fingerprint: str = "f",
) -> Row:
    """Return the row of a text that was written and judged so."""
    outcome = classify(generation, judgement)
    compliant = outcome is TextClass.COMPLIANT
    verdict = Verdict(
        passed=compliant,
        failure_class="" if compliant else outcome.value,
        details={"judgement": None if judgement is None else asdict(judgement)},
    )
    scored = ScoredResponse(
        record=f"{config}/{generation.id}",
        group=config,
        repeat=repeat,
        model="small",
        condition="free",
        participant=engine,
        verdicts=(verdict,),
        writing=generation.as_json(),
    )
    return row_from_scored(scored, "coverage", fingerprint)


def text_from_row(row: Row) -> GeneratedText:
    """Return the text of a row."""
    return to_text(scored_from_row(row))


def written(
    generation: Generation,
    judgement: Judgement | None,
    *,
    engine: str = "some 1.0 faithful",
    subject: str = "o1",
    repeat: int = 0,
) -> GeneratedText:
    """Return a text out of the row that is written of it."""
    row = row_of(
        replace(generation, id=subject),
        judgement,
        engine=engine,
        repeat=repeat,
    )
    return text_from_row(parse_line(make_line(row, RunHeader()), Row))
