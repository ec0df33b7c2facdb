"""Tokenizers: the bytes of every token for the engines, and the ids of a text.

Example:
    >>> tokenizer = get_tokenizer("smollm2", FetchSettings.from_environment())
    >>> tokenizer.encoder()(["{}"])
    [[6150]]
"""

from evaluation.tokenizers.byte_level import BYTES
from evaluation.tokenizers.files import TokenizerFiles
from evaluation.tokenizers.store import (
    DEFAULT,
    get_tokenizer,
    token_counter,
    tokens_at_most,
)

__all__ = [
    "BYTES",
    "DEFAULT",
    "TokenizerFiles",
    "get_tokenizer",
    "token_counter",
    "tokens_at_most",
]
