"""What XGrammar's file does before XGrammar is there, and around its versions."""

from __future__ import annotations

import runpy
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from evaluation.setup.engine_files import choose_options, find_engine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PACKAGE = """
from transformers import PreTrainedTokenizerBase
import triton
import triton.language as tl
import sentencepiece

@triton.jit
def kernel(size: tl.constexpr):
    return size

class VocabType:
    RAW = 0

class TokenizerInfo:
    def __init__(self, *arguments, **named):
        pass

class Grammar:
    @staticmethod
    def from_ebnf(text):
        return text

def apply_token_bitmask_inplace(logits, mask):
    pass

class GrammarMatcher:
    pass

class GrammarCompiler:
    def __init__(self, info, *, max_threads, cache_enabled):
        pass

    def compile_json_schema(self, schema, *, any_whitespace=True, strict_mode=True):
        raise RuntimeError("[12:34:56] /cpp/here.cc:1: refused")
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Return XGrammar's file where XGrammar is an old one, and torch an empty one."""
    (tmp_path / "torch.py").write_text("", encoding="utf-8")
    (tmp_path / "xgrammar.py").write_text(_PACKAGE, encoding="utf-8")
    metadata = tmp_path / "xgrammar-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: xgrammar\nVersion: 0.1.0\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("torch", "xgrammar", "triton", "triton.language", "transformers"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    found = runpy.run_path(str(find_engine("xgrammar").path))
    yield found
    for name in ("torch", "xgrammar"):
        sys.modules.pop(name, None)


def _tokenizer() -> SimpleNamespace:
    contents = [b"a", b"ab", b"c", None]
    return SimpleNamespace(token_bytes=contents, vocab_size=4, eos_id=3)


def test_stands_in_for_what_is_imported_and_never_called(file: dict[str, Any]) -> None:
    """Without triton and transformers it is imported, and no stand-in stays behind."""
    module = file["import_xgrammar"]()
    assert module.GrammarCompiler
    assert not {"triton", "triton.language", "sentencepiece"} & set(sys.modules)


def test_refuses_an_option_that_a_version_lacks(file: dict[str, Any]) -> None:
    """What an old version cannot do is said, and what it need not do is left out."""
    options = choose_options(find_engine("xgrammar"), "faithful", {})
    assert file["load"](_tokenizer(), options).version == "0.1.0"
    with pytest.raises(ValueError, match=r"0\.1\.0 has no option any_order"):
        file["load"](_tokenizer(), {**options, "any_order": True})
    with pytest.raises(ValueError, match="come together"):
        file["load"](_tokenizer(), {**options, "item_separator": ","})


def test_says_a_refusal_without_the_time_of_day(file: dict[str, Any]) -> None:
    """The same refusal has the same words in every run."""
    engine = file["load"](
        _tokenizer(), choose_options(find_engine("xgrammar"), "faithful", {})
    )
    with pytest.raises(RuntimeError, match=r"^/cpp/here\.cc:1: refused$"):
        engine.compile("{}")


def test_cuts_forced_text_into_the_longest_tokens(file: dict[str, Any]) -> None:
    """What no token spells ends the cutting."""
    engine = file["load"](
        _tokenizer(), choose_options(find_engine("xgrammar"), "faithful", {})
    )
    cut = file["tokens_of"]
    assert cut("abac", engine) == [1, 0, 2]
    assert cut("abz", engine) == [1]
    assert cut("", engine) == []


def test_cutting_looks_no_further_than_the_longest_token(file: dict[str, Any]) -> None:
    """A long forced text takes a time that is linear in it."""

    class Counted(dict[bytes, int]):
        asked = 0

        def __contains__(self, key: object) -> bool:
            self.asked += 1
            return super().__contains__(key)

    ids = Counted({b"a": 0, b"abc": 1})
    engine = SimpleNamespace(ids=ids, longest=3)
    assert len(file["tokens_of"]("a" * 2_000, engine)) == 2_000
    assert ids.asked <= 3 * 2_000
