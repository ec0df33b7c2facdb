"""The law of all tokenizers: the bytes of a text's ids are the text's own."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from curation.download.acquire import FetchSettings
from evaluation.tokenizers import get_tokenizer
from evaluation.tokenizers.vocabulary import to_bytes
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from evaluation.tokenizers import TokenizerFiles
    from evaluation.tokenizers.files import Encoder

KINDS = ("byte_level", "metaspace", "tiktoken", "tekken", "gguf", "spm")
#: What tokenizers trip over: their own marks, spaces, bytes that look like tokens.
PIECES = st.sampled_from(
    [
        "\u2581",
        " ",
        "  ",
        "<0x0A>",
        "<|end|>",
        "</s>",
        "<unk>",
        "<call>",
        "<tool>",
        "\u0120",
    ]
)
TEXT = st.lists(PIECES | st.text(st.characters(codec="utf-8"), max_size=6)).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
).map(lambda value: json.dumps(value, ensure_ascii=False))


def settings(folder: Path) -> FetchSettings:
    """Keep everything below one folder."""
    return FetchSettings(mirror=None, cache=folder / "cache", offline=True)


@cache
def _made(kind: str) -> tuple[TokenizerFiles, Encoder]:
    folder = Path(mkdtemp(prefix="csbdata-test-"))
    paths = {
        "byte_level": lambda: made.byte_level(folder / "a", padding=7),
        "metaspace": lambda: made.metaspace(folder / "a"),
        "gguf": lambda: made.byte_level_gguf(
            folder / "a.gguf", made.byte_level(folder / "b")
        ),
        "spm": lambda: made.pieces_gguf(folder / "a.gguf"),
    }
    if kind in paths:
        files = get_tokenizer(str(paths[kind]()), settings(folder))
    elif kind == "tiktoken":
        files = made.tiktoken_files(folder)
    else:
        files = made.tekken_files(folder)
    return files, files.encoder()


@pytest.mark.parametrize("kind", KINDS)
@given(texts=st.lists(TEXT | JSON, min_size=1, max_size=4))
def test_the_bytes_of_the_ids_are_the_text(kind: str, texts: list[str]) -> None:
    """Whatever the text holds, no id adds a byte to it, hides one or is special."""
    files, encoder = _made(kind)
    known = files.token_bytes()
    for text, ids in zip(texts, encoder(texts), strict=True):
        assert ids is not None
        assert b"".join(known[number] or b"?" for number in ids) == text.encode()
        assert not set(ids) & set(files.special_ids)


@pytest.mark.parametrize("kind", KINDS)
def test_an_ordinary_text_is_encoded_as_its_library_does(kind: str) -> None:
    """On texts that need no care the ids are those of `tokenizers`, greed unused."""
    files, encoder = _made(kind)
    theirs = Tokenizer.from_file(str(files.tokenizer_json))
    # Its own encoding puts a space before a text; ours must not.
    space = " " if kind == "metaspace" else ""
    for text in made.TEXTS:
        expected = theirs.encode(text, add_special_tokens=False).ids
        assert encoder([space + text]) == [expected]


@pytest.mark.parametrize("kind", KINDS)
def test_the_library_gives_every_token_our_id(kind: str) -> None:
    """An engine that reads the tokenizer.json sees special tokens where we do."""
    files, _ = _made(kind)
    theirs = Tokenizer.from_file(str(files.tokenizer_json))
    known = files.token_bytes()
    named = theirs.get_added_tokens_decoder()
    special = {number for number, each in named.items() if each.special}
    assert special == set(files.special_ids)
    assert theirs.get_vocab_size() == len(known)
    for number, content in enumerate(known):
        token = theirs.id_to_token(number)
        assert (content is None) == (number in special)
        if token and number not in named and files.kind != "sentencepiece":
            assert to_bytes(token) == content


@pytest.mark.parametrize("kind", KINDS)
def test_greed_spells_too(kind: str) -> None:
    """The way out for texts that a tokenizer would change spells them as well."""
    files, encoder = _made(kind)
    known = files.token_bytes()
    ids = encoder.greedy('\u2581 "abc": <|end|>')
    assert ids is not None
    assert b"".join(known[number] or b"?" for number in ids) == (
        '\u2581 "abc": <|end|>'.encode()
    )
