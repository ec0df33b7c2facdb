"""A tokenizer whose tokens are single bytes: engines compile for it in no time."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from evaluation.tokenizers.store import get_tokenizer

if TYPE_CHECKING:
    from curation.download.acquire import FetchSettings
    from evaluation.tokenizers.files import TokenizerFiles

_END: Final = "<|end|>"


def single_bytes(fetch: FetchSettings) -> TokenizerFiles:
    """Return the tokenizer, kept in the cache like any other.

    What a grammar takes of a text does not depend on its tokens, so a text is blocked
    at the same byte as with a large vocabulary.
    """
    with TemporaryDirectory() as parent:
        return get_tokenizer(str(write_single_bytes(Path(parent))), fetch)


def write_single_bytes(parent: Path) -> Path:
    """Write the tokenizer's files into a new folder below another; return it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: PLC0415 (an extra)

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: number for number, symbol in enumerate(alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([_END])
    folder = parent / "single-bytes"
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = json.dumps({"eos_token": _END})
    (folder / "tokenizer_config.json").write_text(config, "utf-8")
    return folder
