"""Shapes: as large as the published models, their weights drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bench.model.shapes import ModelShape, draw_weights, load_shape, shapes
from curation.download.cache import FetchSettings
from curation.system.errors import BadConfiguration
from tests.late import Late

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PretrainedConfig

torch = Late("torch")
transformers = Late("transformers")

#: Numbers of weights as the publishers' files have them.
_WEIGHTS = {
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.2-1b": 1_235_814_400,
}
_TINY = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}


def _config(shape: ModelShape, **others: int) -> PretrainedConfig:
    members: dict[str, Any] = {**shape.config, **others}
    config: PretrainedConfig = transformers.AutoConfig.for_model(
        shape.model_type, **members
    )
    return config


@pytest.mark.parametrize("name", shapes())
def test_a_shape_has_as_many_weights_as_the_published_model(name: str) -> None:
    """Shared embeddings count once, as in the files."""
    with torch.device("meta"):
        hollow = transformers.AutoModelForCausalLM.from_config(_config(shapes()[name]))
    assert sum(part.numel() for part in hollow.parameters()) == _WEIGHTS[name]


def test_weights_are_the_same_each_time() -> None:
    """Whatever was drawn before."""
    config = _config(
        shapes()["llama-3.2-1b"],
        **_TINY,
        num_key_value_heads=1,
        head_dim=8,
        intermediate_size=32,
        vocab_size=40,
    )
    cpu = torch.device("cpu")
    before = torch.random.get_rng_state()
    first = draw_weights(config, torch.float32, cpu)
    torch.rand(5)
    late = draw_weights(config, torch.float32, cpu).state_dict()
    assert first.dtype is torch.float32
    assert all(torch.equal(part, late[n]) for n, part in first.state_dict().items())
    torch.random.set_rng_state(before)


def test_weights_that_do_not_fit_are_refused_before_they_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With their size, the free memory, and what would fit."""
    from evaluation.models import hardware, loading  # noqa: PLC0415 - need torch

    monkeypatch.setattr(hardware, "free_memory", lambda _device: 2**30)
    config, cpu = _config(shapes()["llama-3.2-1b"]), torch.device("cpu")
    message = r"1b: its weights take 2\.3 GiB, and cpu has 1\.0 GiB free: take"
    with pytest.raises(BadConfiguration, match=message):
        loading.check_memory(
            "1b", transformers.AutoModelForCausalLM, config, torch.bfloat16, cpu
        )


def test_a_shape_is_a_model_like_any_other(tmp_path: Path) -> None:
    """It reads prompts, and takes tokens one by one."""
    from evaluation.models.loading import LoadOptions  # noqa: PLC0415 - needs torch

    sizes: dict[str, bool | int | float] = {
        **_TINY,
        "intermediate_size": 32,
        "vocab_size": 320,
    }
    shape = ModelShape(
        title="Tiny",
        tokenizer="bytes",
        source="this test",
        model_type="llama",
        config=sizes,
    )
    options, settings = LoadOptions(device="cpu"), FetchSettings(cache=tmp_path)
    model = load_shape(shape, options, settings)
    assert model.name == "Tiny shape (random weights)"
    assert model.vocab_size == 320
    decoding = model.open()
    logits = decoding.admit([1, 2, 3])
    assert decoding.feed([[int(logits.argmax())]]).shape == (1, 320)
