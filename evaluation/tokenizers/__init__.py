"""Tokenizers as files: bytes by id for the engines, ids for the driver's texts."""

from evaluation.tokenizers.files import TokenizerFiles
from evaluation.tokenizers.store import DEFAULT, get_tokenizer

__all__ = ["DEFAULT", "TokenizerFiles", "get_tokenizer"]
