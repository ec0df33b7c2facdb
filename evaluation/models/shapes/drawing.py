"""A model of a known shape, its weights drawn on the device from a seed.

What a token costs depends on the shape and not on the values, so times can be measured
where the weights cannot be had; what such a model writes means nothing.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import msgspec
import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

from evaluation.models.device.kept_step import choose_step_kind
from evaluation.models.device_failures import failures_of_loading
from evaluation.models.hardware import make_current
from evaluation.models.loading import choose_device, choose_dtype
from evaluation.models.memory import check_fits
from evaluation.models.shapes.catalogue import PREFIX, seed_of, shape_named
from evaluation.models.transformers import TransformersModel
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from transformers import PretrainedConfig, PreTrainedModel

    from curation.download.acquire import FetchSettings
    from evaluation.models.loading import LoadOptions

#: Raised when the same shape and seed give other weights.
_VERSION: Final = "1"


def load_shape(
    model: str,
    loading: LoadOptions,
    settings: FetchSettings,
    say: Callable[[str], None],
) -> TransformersModel:
    """Return a model of a known shape with drawn weights.

    Args:
        model: `shape:NAME`.
        loading: Device, dtype and threads; its revision is the seed.
        settings: How the tokenizer is fetched, and where it is kept.
        say: Tells people of what takes time.

    Raises:
        NoInput: there is no such shape.
        BadUsage: the seed is no number.
        BadConfiguration: the device or number type is not there, or the weights do
            not fit into its memory.
        CsbdataError: the tokenizer cannot be fetched.
    """
    shape, seed = shape_named(model), seed_of(loading.revision)
    device = choose_device(loading.device)
    dtype = choose_dtype(loading.dtype, device)
    step = choose_step_kind(loading.compile, device)
    torch.set_num_threads(loading.threads)
    tokenizer = get_tokenizer(shape.tokenizer, settings, say)
    config = AutoConfig.for_model(
        shape.model_type, **shape.config, eos_token_id=tokenizer.eos_id
    )
    with failures_of_loading(model):
        make_current(device)
        _check_memory(model, config, dtype, device)
        module = _drawn(config, dtype, device, seed, loading.attention)
    digest = hashlib.sha256(
        msgspec.json.encode([_VERSION, shape, seed], order="sorted")
    )
    with failures_of_loading(model):
        return TransformersModel(
            module,
            PreTrainedTokenizerFast(tokenizer_file=str(tokenizer.tokenizer_json)),
            name=f"{shape.title} shape (random weights, seed {seed})",
            revision=digest.hexdigest()[:16],
            folder=tokenizer.folder,
            random_weights=True,
            step=step,
        )


def _drawn(
    config: PretrainedConfig,
    dtype: torch.dtype,
    device: torch.device,
    seed: int,
    attention: str,
) -> PreTrainedModel:
    """Return a model whose weights are drawn where they will be used."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []), device:
        torch.manual_seed(seed)
        module: PreTrainedModel = AutoModelForCausalLM.from_config(
            config, dtype=dtype, attn_implementation=attention or None
        )
    return module


def _check_memory(
    model: str, config: PretrainedConfig, dtype: torch.dtype, device: torch.device
) -> None:
    with torch.device("meta"):
        hollow = AutoModelForCausalLM.from_config(config, dtype=dtype)
    wanted = sum(part.numel() * part.element_size() for part in hollow.parameters())
    then = f"take a smaller one, such as {PREFIX}qwen3-0.6b"
    check_fits("", wanted, device, then, where=model)
