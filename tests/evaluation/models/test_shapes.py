"""Shapes: as large as the published models, drawn from a seed, and never judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration, BadUsage, NoInput
from evaluation.analysis.run_report import tables_by_task
from evaluation.models.shapes import (
    ModelShape,
    check_learnt,
    seed_of,
    shape_named,
    shapes,
)
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import HEAD, row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PretrainedConfig

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

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


def test_weights_follow_from_the_seed() -> None:
    """Same seed, same weights, whatever was drawn before; another seed, others."""
    from evaluation.models.loading import _draw_weights  # noqa: PLC0415 - needs torch

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
    first, again, other = (
        _draw_weights(config, torch.float32, cpu, n, "") for n in (3, 3, 4)
    )
    torch.rand(5)
    late = _draw_weights(config, torch.float32, cpu, 3, "")
    assert first.dtype is torch.float32
    weights = [model.state_dict() for model in (first, again, late)]
    for name, part in weights[0].items():
        assert all(torch.equal(part, same[name]) for same in weights[1:])
    changed = other.state_dict()
    assert any(
        not torch.equal(part, changed[name]) for name, part in weights[0].items()
    )
    torch.random.set_rng_state(before)


def test_a_shape_that_does_not_fit_is_told_before_it_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With what it takes, what there is, and what would fit."""
    from evaluation.models import hardware, loading  # noqa: PLC0415 - need torch

    monkeypatch.setattr(hardware, "free_memory", lambda _device: 2**30)
    config, cpu = _config(shapes()["llama-3.2-1b"]), torch.device("cpu")
    told = r"shape:x: its weights take 2\.3 GiB, and cpu has 1\.0 GiB free: take"
    with pytest.raises(BadConfiguration, match=told):
        loading._check_memory(
            "shape:x", transformers.AutoModelForCausalLM, config, torch.bfloat16, cpu
        )


def test_a_shape_that_is_not_there_is_told_with_one_that_is() -> None:
    """A name close to one that is known, or all of them."""
    assert shape_named("shape:llama-3.2-1b").title == "Llama 3.2 1B"
    with pytest.raises(NoInput, match=r"did you mean shape:llama-3\.1-8b\?"):
        shape_named("shape:llama-3.1-8B")
    with pytest.raises(NoInput, match="known: llama"):
        shape_named("shape:zzz")


def test_the_seed_follows_an_at_sign() -> None:
    """A whole number, 0 where none is said."""
    assert (seed_of(None), seed_of("7")) == (0, 7)
    for words in ("main", "-1", "1.5", "9" * 30, "²"):
        with pytest.raises(BadUsage, match="whole number"):
            seed_of(words)


def test_what_a_shape_writes_is_not_judged() -> None:
    """Its times are results; its texts say nothing of the model it is named after."""
    check_learnt("smollm2", "coverage")
    with pytest.raises(BadUsage, match="random weights: name a model with its own"):
        check_learnt("shape:llama-3.2-1b", "coverage")


def test_a_run_with_a_shape_has_no_coverage(tmp_path: Path) -> None:
    """Its rows have texts all the same; only times are shown of them."""
    header = {**HEAD, "models": {"model": "a shape", "random_weights": True}}
    run = open_run(write_run(tmp_path / "run", [row(task="coverage")], header))
    with pytest.raises(NoInput, match=r"it has efficiency$"):
        tables_by_task(run, ["coverage"])


def test_a_shape_is_a_model_like_any_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It reads prompts, takes tokens one by one, and says what it is."""
    from evaluation.models import loading  # noqa: PLC0415 - needs torch

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
    monkeypatch.setattr(loading, "shape_named", lambda _model: shape)
    options = loading.LoadOptions(device="cpu", revision="5")
    settings = FetchSettings(cache=tmp_path)
    model = loading.load_shape("shape:tiny", options, settings, print)
    assert model.name == "Tiny shape (random weights, seed 5)"
    assert model.facts()["random_weights"] is True
    assert model.vocab_size == 320
    decoding = model.open()
    logits = decoding.admit([1, 2, 3]).logits.tensor()
    assert decoding.feed([[int(logits.argmax())]]).logits.shape == (1, 320)
