"""The loop writes what the model would write, and nothing that the engine forbids."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest
import torch

from curation.workers.limits import Limits
from evaluation.core.cases import Result
from evaluation.generation.loop import generate
from evaluation.generation.text_generation import (
    LoopOptions,
    TextEnding,
    TokenizedRequest,
)
from evaluation.walking.engine_process import CoreWaits
from tests.evaluation.generation.loop_sessions import (
    COMPACT,
    ENGINES,
    SCHEMA,
    alone,
    session,
    sessions,
    tokenized,
)

if TYPE_CHECKING:
    from evaluation.models.transformers import TransformersModel
    from evaluation.tokenizers import TokenizerFiles


def test_without_an_engine_the_text_is_that_of_generate(
    model: TransformersModel,
) -> None:
    """Greedy decoding through the loop chooses the tokens that `generate` chooses."""
    request = tokenized(model, "say something", budget=24)
    ours = alone(model, request)
    inputs = torch.tensor([request.prompt])
    theirs = model.module.generate(inputs, max_new_tokens=24, do_sample=False)
    new = theirs[0, len(request.prompt) :].tolist()
    assert list(ours.tokens) == [
        token for token in new if token not in model.end_tokens
    ]


def test_a_batch_writes_what_each_text_would_bealone(model: TransformersModel) -> None:
    """Texts of a batch do not disturb each other, whatever their prompts' lengths."""
    asked = [
        tokenized(model, say, budget=budget)
        for say, budget in (("a", 7), ("a much longer prompt", 20), ("mid one", 12))
    ]
    singly = [alone(model, request) for request in asked]
    together = generate(model, asked, [None] * 3, LoopOptions())
    assert [text.tokens for text in together] == [text.tokens for text in singly]
    assert [text.ending for text in together] == [text.ending for text in singly]


@pytest.mark.parametrize("forced", [False, True])
def test_under_an_engine_even_a_random_model_satisfies_the_schema(
    model: TransformersModel, tokenizer: TokenizerFiles, *, forced: bool
) -> None:
    """Forced tokens change the times, never what is allowed."""
    options = LoopOptions(forced=forced)
    validator = jsonschema_rs.Draft202012Validator(SCHEMA)
    with session(tokenizer, ENGINES / "llguidance.py", COMPACT) as opened:
        for say in ("one", "two", "three"):
            made = generate(model, [tokenized(model, say)], [opened], options)[0]
            assert (made.result, made.ending) == (Result.OK, TextEnding.END), (
                made.detail
            )
            assert validator.is_valid(json.loads(made.text))
            assert (made.forced > 0) is forced
            assert made.compile_ns
            assert made.ttft_ns
            assert made.total_ns
            assert made.total_ns >= made.ttft_ns
            assert sum(each.fed for each in made.steps[1:]) == len(made.tokens)


def test_the_budget_ends_a_text(model: TransformersModel) -> None:
    """A text has at most its budget of tokens, and says that it was truncated."""
    made = alone(model, tokenized(model, "on and on", budget=3))
    assert len(made.tokens) == 3
    assert made.ending is TextEnding.TRUNCATED


def test_a_seed_decides_what_is_drawn(model: TransformersModel) -> None:
    """Sampling gives the same text for the same seed, and others for other seeds."""

    def drawn(seed: int) -> tuple[int, ...]:
        request = tokenized(model, "draw", budget=12, temperature=1.5, seed=seed)
        return alone(model, request).tokens

    assert drawn(1) == drawn(1)
    assert len({drawn(seed) for seed in range(5)}) > 1


def test_forced_tokens_stay_within_the_budget(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> None:
    """However many tokens are forced, a text has at most its budget of them."""
    options = LoopOptions(forced=True)
    with session(tokenizer, ENGINES / "llguidance.py", COMPACT) as opened:
        for budget in range(1, 16):
            request = tokenized(model, "go", budget=budget)
            made = generate(model, [request], [opened], options)[0]
            assert len(made.tokens) <= budget
            assert made.ending in {TextEnding.TRUNCATED, TextEnding.END}


def test_a_text_that_ends_makes_room_at_once(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> None:
    """More texts than sessions are written as room is made, each as if alone."""
    asked = [
        tokenized(model, f"text {number}", budget=budget)
        for number, budget in enumerate((3, 30, 5, 30, 9, 1, 30))
    ]
    order: list[int] = []
    with sessions(tokenizer, ENGINES / "llguidance.py", COMPACT, texts=3) as opened:
        made = generate(
            model,
            asked,
            opened,
            LoopOptions(),
            on_end=lambda place, _generation: order.append(place),
        )
        singly = [
            generate(model, [request], opened[:1], LoopOptions())[0]
            for request in asked
        ]
    assert [text.tokens for text in made] == [text.tokens for text in singly]
    assert sorted(order) == list(range(7))
    assert order[0] == 0
    assert order.index(5) < order.index(3)


@pytest.mark.slow
def test_a_process_that_is_replaced_goes_on_where_it_was(
    model: TransformersModel, tokenizer: TokenizerFiles
) -> None:
    """A worker that has served long enough gives way to a new one in mid-text."""
    request = tokenized(model, "go")
    engine = ENGINES / "llguidance.py"
    with session(tokenizer, engine, COMPACT) as opened:
        wanted = generate(model, [request], [opened], LoopOptions())[0]
    with session(tokenizer, engine, COMPACT, Limits(recycle_after=4)) as opened:
        made = generate(model, [request], [opened], LoopOptions())[0]
    assert (made.tokens, made.ending) == (wanted.tokens, TextEnding.END)


@pytest.mark.parametrize("machine", ["busy", "quiet", "does not count"])
def test_what_a_busy_machine_takes_is_not_the_text_s(
    model: TransformersModel, monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    """Waiting for a core, before the text too, does not count towards its deadline."""
    waits = {
        "busy": itertools.count(10**15, 10**12),
        "quiet": itertools.repeat(10**15),
        "does not count": itertools.repeat(None),
    }[machine]
    monkeypatch.setattr(CoreWaits, "total", lambda _: next(waits))
    request = TokenizedRequest(id="a", schema="{}", prompt=(5, 6, 7), budget=10)
    (made,) = generate(model, [request], [None], LoopOptions(run_seconds=1e-6))
    if machine == "busy":
        assert made.ending in {TextEnding.END, TextEnding.TRUNCATED}
    else:
        assert (made.ending, len(made.tokens)) == (TextEnding.TIMEOUT, 1)
        assert "1e-06 s" in made.detail
