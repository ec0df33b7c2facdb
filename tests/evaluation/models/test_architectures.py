"""Whatever a model is made of, its texts are those of a full pass without any cache."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evaluation.core.records import Message
from evaluation.models.loading import LoadOptions, load_model
from tests.evaluation.models.tiny_models import KINDS, tiny_model

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import torch

    from evaluation.models.transformers import TransformersModel

_QUICK = ("llama", "gemma3_text", "lfm2", "recurrent_gemma")
_EVERY = [
    kind if kind in _QUICK else pytest.param(kind, marks=pytest.mark.slow)
    for kind in KINDS
]
_SAID = ("a", "a much longer thing to say", "something between")
#: What the three texts go on with: one is forced further than the others.
_PASSES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((7,), (8,), (9,)),
    ((10, 11, 12, 13), (14,), ()),
    ((15,), (16, 17), (18,)),
)


@pytest.fixture(scope="module", params=_EVERY)
def model(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> TransformersModel:
    """Return a model of each kind."""
    kind = str(request.param)
    folder = tiny_model(tmp_path_factory.mktemp(kind), kind)
    return load_model(folder, LoadOptions(device="cpu", dtype="fp32"))


def _prompts(model: TransformersModel) -> list[tuple[int, ...]]:
    """Return prompts that differ in length."""
    return [model.prompt([Message(role="user", content=said)]) for said in _SAID]


def _without_cache(model: TransformersModel, tokens: Sequence[int]) -> torch.Tensor:
    return model._forward.everywhere(tokens)[-1]


def _assert_right(
    model: TransformersModel, found: torch.Tensor, tokens: Sequence[int]
) -> None:
    wanted = _without_cache(model, tokens)
    limit = 1e-4 * float(wanted.max() - wanted.min())
    assert float((found - wanted).abs().max()) <= limit


@pytest.mark.parametrize("rows", [1, 3])
def test_the_logits_are_those_of_a_full_pass(
    model: TransformersModel, rows: int
) -> None:
    """Alone or beside others, one token a pass or several."""
    model.forget()
    prompts = _prompts(model)[:rows]
    decoding = model.open()
    texts = [list(prompt) for prompt in prompts]
    for text, prompt in zip(texts, prompts, strict=True):
        _assert_right(model, decoding.admit(prompt).logits.tensor(), text)
    for fed in _PASSES:
        logits = decoding.feed(fed[:rows]).logits
        for text, tokens, found in zip(texts, fed, logits, strict=False):
            text.extend(tokens)
            if tokens:
                _assert_right(model, found, text)
    if rows > 1:
        decoding.keep([0, 2])
        both = decoding.feed([[21], [22, 23]]).logits
        for place, found in zip((0, 2), both, strict=True):
            texts[place].extend([21] if place == 0 else [22, 23])
            _assert_right(model, found, texts[place])
        late = decoding.admit(prompts[1])
        _assert_right(model, late.logits.tensor(), prompts[1])
        last = decoding.feed([[24], [25], [26, 27]]).logits
        _assert_right(model, last[2], [*prompts[1], 26, 27])
        _assert_right(model, last[0], [*texts[0], 24])
        decoding.keep([1])
        last = decoding.feed([[28]]).logits
        _assert_right(model, last[0], [*texts[2], 25, 28])


def test_a_conversation_loses_nothing(model: TransformersModel) -> None:
    """Whatever the template takes, instruction and question are in the prompt."""
    asked = [
        Message(role="system", content="obey"),
        Message(role="user", content="question"),
    ]
    text = model.text(model.prompt(asked))
    assert "obey" in text
    assert "question" in text


def test_what_cannot_be_done_is_said(
    model: TransformersModel, request: pytest.FixtureRequest
) -> None:
    """Only models whose every layer keeps every token share passes."""
    if request.node.callspec.params["model"] == "recurrent_gemma":
        assert "whole text" in model.limits
    kind = request.node.callspec.params["model"]
    alone = kind not in {"llama", "qwen3", "gpt2", "opt", "gpt_neox", "mixtral"}
    assert bool(model.limits) is alone
    cache = model.facts()["cache"]
    assert isinstance(cache, dict)
    assert bool(cache["why"]) is bool(model.limits)


def test_positions_of_the_longest_text_are_not_shared(tmp_path: Path) -> None:
    """Under dynamic NTK a text would depend on how long its neighbours become."""
    folder = tiny_model(tmp_path, "llama")
    config = json.loads((folder / "config.json").read_text())
    rope = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}
    (folder / "config.json").write_text(json.dumps({**config, "rope_parameters": rope}))
    model = load_model(folder, LoadOptions(device="cpu", dtype="fp32"))
    assert (
        model.limits == "texts run alone (positions that change with the longest text)"
    )
