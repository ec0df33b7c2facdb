"""What a step of decoding moves, by counting: weights, and the cache once."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from evaluation.models import kept_step
from evaluation.models.forward import ForwardPass
from evaluation.models.kept_step import SlotCache, StepKind
from evaluation.models.shapes import shape_named
from tests.evaluation.models.traffic import moved_bytes

_TEXTS, _TOKENS = 32, 600
_META = torch.device("meta")


@pytest.fixture(scope="module")
def module() -> PreTrainedModel:
    """Return Llama 3.1 8B in bf16, without any memory."""
    shape = shape_named("shape:llama-3.1-8b")
    config = AutoConfig.for_model(shape.model_type, **shape.config)
    with _META:
        made: PreTrainedModel = AutoModelForCausalLM.from_config(
            config, dtype=torch.bfloat16
        )
    made.eval()
    return made


def _needed(module: PreTrainedModel) -> int:
    """Return the bytes of all weights that are multiplied, and of keys and values."""
    config = module.config
    table = module.get_parameter("model.embed_tokens.weight")
    weights = sum(part.nbytes for part in module.parameters()) - table.nbytes
    size = config.hidden_size // config.num_attention_heads
    of_a_token = 2 * 2 * config.num_hidden_layers * config.num_key_value_heads * size
    return int(weights + _TEXTS * _TOKENS * of_a_token)


def _step(module: PreTrainedModel, width: int) -> int:
    forward = ForwardPass(module)
    cache = SlotCache(forward, _TEXTS, 1024, StepKind.GRAPHS, (width,))

    def read() -> object:
        return cache.read([[1] * width] * _TEXTS, [_TOKENS] * _TEXTS)

    read()
    return moved_bytes(read)


@pytest.mark.parametrize("width", [1, 2])
def test_a_step_moves_weights_and_cache_once(
    module: PreTrainedModel, width: int
) -> None:
    """An 8B shape, 32 texts of 600 tokens: at most 1.15x of what it must move."""
    assert 1.0 < _step(module, width) / _needed(module) <= 1.15


def test_keys_and_values_repeated_for_every_query_are_counted(
    module: PreTrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As transformers does under a mask where several tokens are fed."""
    monkeypatch.setattr(kept_step, "grouped_queries", nullcontext)
    assert _step(module, 2) / _needed(module) > 2
