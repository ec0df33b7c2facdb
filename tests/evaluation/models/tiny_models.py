"""Models of many kinds, tiny and with random weights, each in a folder as the Hub's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
from transformers import (
    CONFIG_MAPPING,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    PreTrainedTokenizerFast,
)

from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedModel

    from curation.core.json_types import UntypedJson

_PLAIN_TEMPLATE = (
    "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}\n"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
#: As Gemma's: an instruction is refused.
_NO_SYSTEM_TEMPLATE = (
    "{% if messages[0]['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}" + _PLAIN_TEMPLATE
)
#: As those of models that see pictures: a content is a list of parts.
_PARTS_TEMPLATE = _PLAIN_TEMPLATE.replace(
    "{{ message['content'] }}",
    "{% for part in message['content'] %}{{ part['text'] }}{% endfor %}",
)
#: Sizes that most configs call alike.
_SIZES: Final[dict[str, UntypedJson]] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 1024,
}
_OLD_SIZES: Final[dict[str, UntypedJson]] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
_EXPERTS: Final[dict[str, UntypedJson]] = {"num_experts_per_tok": 2}
_MAMBA: Final[dict[str, UntypedJson]] = {"num_hidden_layers": 2, "state_size": 8}
#: Each kind's config beyond vocabulary and end token, by the name of the kind.
KINDS: Final[dict[str, dict[str, UntypedJson]]] = {
    "llama": _SIZES,
    "qwen3": {**_SIZES, "tie_word_embeddings": True},
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 1024},
    "opt": {**_OLD_SIZES, "ffn_dim": 48, "word_embed_proj_dim": 32},
    "gpt_neox": {**_OLD_SIZES, "intermediate_size": 48},
    "mixtral": {**_SIZES, **_EXPERTS, "num_local_experts": 4},
    "mistral": {**_SIZES, "sliding_window": 8},
    "gemma3_text": {
        **_SIZES,
        "sliding_window": 8,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "gpt_oss": {**_SIZES, **_EXPERTS, "num_local_experts": 4, "sliding_window": 8},
    "gemma3": {
        "text_config": {**_SIZES, "model_type": "gemma3_text", "sliding_window": 8},
        "vision_config": {
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 16,
            "patch_size": 8,
        },
    },
    "bloom": {"hidden_size": 32, "n_layer": 2, "n_head": 4},
    "falcon": {**_OLD_SIZES, "alibi": True, "new_decoder_architecture": False},
    "mamba": {**_MAMBA, "hidden_size": 32},
    # Its state is the module's own, whatever cache it is handed.
    "recurrent_gemma": {
        **_SIZES,
        "num_hidden_layers": 3,
        "lru_width": 32,
        "attention_window_size": 8,
    },
    "mamba2": {
        **_MAMBA,
        "hidden_size": 32,
        "num_heads": 8,
        "head_dim": 8,
        "n_groups": 1,
    },
    "lfm2": {**_SIZES, "layer_types": ["conv", "full_attention"]},
    "qwen3_next": {
        **_SIZES,
        **_EXPERTS,
        "linear_num_value_heads": 4,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
        "num_experts": 4,
        "moe_intermediate_size": 16,
        "shared_expert_intermediate_size": 16,
        "layer_types": ["linear_attention", "full_attention"],
    },
    "rwkv": {
        "hidden_size": 32,
        "attention_hidden_size": 32,
        "num_hidden_layers": 2,
        "context_length": 1024,
    },
}
#: Kinds with no chat template at all, and with unusual ones.
_TEMPLATES: Final = {
    "gpt2": None,
    "gemma3_text": _NO_SYSTEM_TEMPLATE,
    "gemma3": _PARTS_TEMPLATE,
}


def tiny_model(folder: Path, kind: str) -> Path:
    """Write a tiny model of a kind, with a tokenizer, and return its folder."""
    made.byte_level(folder, padding=0)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        eos_token=made.END,
        chat_template=_TEMPLATES.get(kind, _PLAIN_TEMPLATE),
    )
    given: dict[str, UntypedJson] = {
        "vocab_size": len(tokenizer),
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": None,
        "pad_token_id": None,
    }
    changes = dict(KINDS[kind])
    if "text_config" in changes:
        changes["text_config"] = {**given, **changes["text_config"]}
        given = {"eos_token_id": tokenizer.eos_token_id}
    config = CONFIG_MAPPING[kind](**{**given, **changes})
    torch.manual_seed(3)
    factory = AutoModelForImageTextToText if kind == "gemma3" else AutoModelForCausalLM
    model: PreTrainedModel = factory.from_config(config)  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                # Far enough apart to leave no ties.
                parameter.copy_(torch.randn_like(parameter) * 0.2)
    model.save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return folder
