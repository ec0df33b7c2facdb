"""A model small enough for a dry run, over the vocabulary of the large ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.system.errors import CsbdataError
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from curation.download.acquire import FetchSettings


def tiny_model(folder: Path, settings: FetchSettings) -> Path:
    """Write a Llama of two layers into a folder, and return it.

    Its tokenizer is that of Llama 3.1 where that is in the cache, else single bytes.
    """
    import torch  # noqa: PLC0415 - heavy
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # noqa: PLC0415 - heavy

    try:
        files = get_tokenizer("llama3.1", settings)
    except CsbdataError:
        files = get_tokenizer("bytes", settings)
    end = files.eos_id
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(files.tokenizer_json))
    tokenizer.eos_token = tokenizer.convert_ids_to_tokens(end)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=files.vocab_size,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        eos_token_id=end,
        bos_token_id=None,
        pad_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return folder
