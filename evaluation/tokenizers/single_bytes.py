"""A tokenizer whose tokens are single bytes: engines compile for it in no time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

#: Its name.
BYTES: Final = "bytes"
_END: Final = "<|end|>"


def write_single_bytes(parent: Path) -> Path:
    """Write the tokenizer's files into a new folder below another; return it.

    What a grammar takes of a text does not depend on its tokens, so a text is blocked
    at the same byte as with a large vocabulary.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: PLC0415 (an extra)

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: number for number, symbol in enumerate(alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([_END])
    folder = parent / BYTES
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = json.dumps({"eos_token": _END})
    (folder / "tokenizer_config.json").write_text(config, "utf-8")
    return folder
