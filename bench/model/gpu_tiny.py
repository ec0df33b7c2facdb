"""A model small enough to be made on the spot, in the shape of the embedded one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.system.errors import CsbdataError
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from curation.download.cache import FetchSettings

#: Standard deviation of the weights: attention is sharp, and no two tokens tie.
_SPREAD = 0.1


def tiny_model(folder: Path, settings: FetchSettings, seed: int = 7) -> Path:
    """Write a Llama as SmolLM2 is one, of two layers, into a folder, and return it.

    Three query heads share a key, and the embedding is the output's; the seed draws the
    weights. Its tokenizer is Llama 3.1's if the cache has that, otherwise single bytes.
    """
    import torch  # noqa: PLC0415 - heavy
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # noqa: PLC0415 - heavy

    try:
        files = get_tokenizer("llama3.1", settings)
    except CsbdataError:
        files = get_tokenizer("bytes", settings)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(files.tokenizer_json))
    tokenizer.eos_token = tokenizer.convert_ids_to_tokens(files.eos_id)
    config = LlamaConfig(
        vocab_size=files.vocab_size,
        hidden_size=144,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=32768,
        tie_word_embeddings=True,
        eos_token_id=files.eos_id,
        bos_token_id=None,
        pad_token_id=None,
    )
    model = LlamaForCausalLM(config)
    drawn = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        # Norms stay as they are: smaller ones would make all positions look alike.
        for part in model.parameters():
            if part.dim() > 1:
                part.normal_(0.0, _SPREAD, generator=drawn)
    model.save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return folder
