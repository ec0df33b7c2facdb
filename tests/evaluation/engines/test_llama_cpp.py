"""The vocabulary that is written for llama.cpp, read by somebody else's reader."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Any

import pytest

from evaluation.setup.engine_files import find_engine
from tests.evaluation.small_tokenizer import SmallTokenizer, doubled, small_tokenizer

if TYPE_CHECKING:
    from pathlib import Path


def _read(folder: Path, tokenizer: SmallTokenizer) -> Any:  # noqa: ANN401 (the reader's)
    gguf = pytest.importorskip("gguf")
    vocabulary = runpy.run_path(str(find_engine("llama_cpp").path))["vocabulary"]
    path = folder / "vocabulary.gguf"
    path.write_bytes(b"".join(vocabulary(tokenizer)))
    return gguf.GGUFReader(path)


def test_a_byte_level_vocabulary_has_a_letter_a_byte(tmp_path: Path) -> None:
    """Every id has its token: bytes as letters, specials by name, the rest unused."""
    tokenizer = small_tokenizer(tmp_path)
    read = _read(tmp_path, tokenizer)
    tokens = read.fields["tokenizer.ggml.tokens"].contents()
    assert read.fields["tokenizer.ggml.model"].contents() == "gpt2"
    assert len(tokens) == len(set(tokens)) == len(tokenizer.token_bytes)
    assert tokens[:2] == ["<|special_0|>", "<|special_1|>"]
    assert tokens[2 + ord(" ")] == "\u0120"
    assert tokens[2 + ord("a")] == "a"
    kinds = read.fields["tokenizer.ggml.token_type"].contents()
    assert kinds[:3] == [3, 3, 1]
    assert kinds[-3:] == [5, 5, 5]
    assert read.fields["tokenizer.ggml.eos_token_id"].contents() == tokenizer.eos_id


def test_a_vocabulary_with_letters_twice_is_sentencepieces(tmp_path: Path) -> None:
    """The first of two is a byte, the second a letter: no two tokens are the same."""
    tokenizer = doubled()
    read = _read(tmp_path, tokenizer)
    tokens = read.fields["tokenizer.ggml.tokens"].contents()
    assert read.fields["tokenizer.ggml.model"].contents() == "llama"
    assert len(tokens) == len(set(tokens)) == len(tokenizer.token_bytes)
    assert tokens[2 + ord("a")] == "<0x61>"
    assert "a" in tokens
