"""Texts as a run has them: written as a row and read again."""

from __future__ import annotations

from dataclasses import replace

import orjson
from hypothesis import strategies as st

from evaluation.core.cases import Result, Sample
from evaluation.core.run_header import LimitsHeader
from evaluation.generation.generation_rows import (
    GeneratedText,
    row_from_generation,
    text_from_row,
)
from evaluation.generation.judgement import Judgement, TextClass, TextVerdict
from evaluation.generation.requests import GenerationRequest
from evaluation.generation.text_generation import (
    DecodingStep,
    Generation,
    TextEnding,
)
from evaluation.results.reader import parse_row

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


SUBJECT = Sample(id="o1", config="Github_easy", split="test", schema="{}", dialect="")


def written(
    generation: Generation,
    judgement: Judgement | None,
    *,
    engine: str = "some 1.0 faithful",
    subject: str = "o1",
    class_in_batch: TextClass | None = None,
) -> GeneratedText:
    """Return a text out of the row that is written of it."""
    row = row_from_generation(
        replace(generation, id=subject),
        GenerationRequest(sample=replace(SUBJECT, id=subject), messages=(), budget=9),
        engine=engine,
        judgement=judgement,
        fingerprint="f",
        class_in_batch=class_in_batch,
    )
    return text_from_row(parse_row(orjson.dumps(row)))
