"""Models as large as the published ones, with drawn weights: what a token costs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import torch
    from transformers import PretrainedConfig, PreTrainedModel

    from curation.download.cache import FetchSettings
    from evaluation.models.loading import LoadOptions
    from evaluation.models.transformers import TransformersModel


class ModelShape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The architecture of a published model, without its weights."""

    title: str
    #: A tokenizer with the model's own vocabulary.
    tokenizer: str
    #: Where the numbers come from.
    source: str
    #: What transformers calls its architecture.
    model_type: str
    #: Members of a transformers config.
    config: dict[str, bool | int | float]


class _Shapes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    shape: dict[str, ModelShape]


@cache
def shapes() -> dict[str, ModelShape]:
    """Return every shape by its name."""
    text = Path(__file__).with_suffix(".toml").read_bytes()
    return msgspec.toml.decode(text, type=_Shapes).shape


def load_shape(
    shape: ModelShape, loading: LoadOptions, settings: FetchSettings
) -> TransformersModel:
    """Return a model of a shape.

    Raises:
        BadConfiguration: its weights do not fit into the device's memory.
        CsbdataError: the tokenizer cannot be fetched.
    """
    from transformers import (  # noqa: PLC0415 - heavy
        AutoConfig,
        AutoModelForCausalLM,
        PreTrainedTokenizerFast,
    )

    from evaluation.models.hardware import failures_of_loading  # noqa: PLC0415 - heavy
    from evaluation.models.loading import check_memory, prepared  # noqa: PLC0415 - the same
    from evaluation.models.transformers import TransformersModel  # noqa: PLC0415 - the same
    from evaluation.tokenizers import get_tokenizer  # noqa: PLC0415 - the same

    device, dtype = prepared(loading)
    tokenizer = get_tokenizer(shape.tokenizer, settings)
    config = AutoConfig.for_model(
        shape.model_type, **shape.config, eos_token_id=tokenizer.eos_id
    )
    with failures_of_loading(shape.title):
        check_memory(shape.title, AutoModelForCausalLM, config, dtype, device)
        return TransformersModel(
            draw_weights(config, dtype, device),
            PreTrainedTokenizerFast(tokenizer_file=str(tokenizer.tokenizer_json)),
            name=f"{shape.title} shape (random weights)",
            revision=shape.source,
            folder=tokenizer.folder,
        )


def draw_weights(
    config: PretrainedConfig, dtype: torch.dtype, device: torch.device
) -> PreTrainedModel:
    """Return a model whose weights are drawn where they will be used."""
    import torch  # noqa: PLC0415 - heavy
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - heavy

    with torch.random.fork_rng([device] if device.type == "cuda" else []), device:
        torch.manual_seed(0)
        module: PreTrainedModel = AutoModelForCausalLM.from_config(config, dtype=dtype)
    return module
