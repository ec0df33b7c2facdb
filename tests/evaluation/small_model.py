"""A model small enough to run anywhere: a Llama of two layers with random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.evaluation.tokenizers import made
from tests.late import Late

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
else:
    torch = Late("torch")
    LlamaConfig = Late("transformers", "LlamaConfig")
    LlamaForCausalLM = Late("transformers", "LlamaForCausalLM")
    PreTrainedTokenizerFast = Late("transformers", "PreTrainedTokenizerFast")

#: Turns of a conversation, each under its role.
_TEMPLATE = (
    "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}\n"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)


def small_model(folder: Path, *, padding: int = 13) -> Path:
    """Write a model with its tokenizer into a folder, as the Hub lays one out.

    `padding` is how many columns its logits have beyond the tokenizer's ids.
    """
    made.byte_level(folder, padding=padding)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        eos_token=made.END,
        chat_template=_TEMPLATE,
    )
    config = LlamaConfig(
        vocab_size=len(tokenizer) + padding,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        pad_token_id=None,
    )
    _random(config).save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return folder


def _random(config: LlamaConfig) -> LlamaForCausalLM:
    """Return a model whose weights are far enough apart to leave no ties."""
    torch.manual_seed(7)
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    return model
