"""The tokenizer of a GGUF file, which the library `gguf` reads."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import msgspec
import orjson

from curation.core.json_types import Json
from curation.system.errors import BadData, Unavailable
from curation.system.extras import install_extra
from evaluation.tokenizers.vocabulary import (
    SPACE,
    ParsedTokenizer,
    VocabularyKind,
    all_merges,
    bpe_model,
    byte_level_json,
    pre_tokenizer,
    sentencepiece_json,
    to_bytes,
)

if TYPE_CHECKING:
    from pathlib import Path

_BYTE: Final = re.compile(r"<0x([0-9A-F]{2})>")


class PieceType(IntEnum):
    """What a piece is."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


def piece_bytes(text: str) -> bytes:
    """Return the bytes of a piece: text, or one byte as `<0x0A>` and its like."""
    byte = _BYTE.fullmatch(text)
    return bytes.fromhex(byte[1]) if byte else text.replace(SPACE, " ").encode()


class _TokenizerKeys(msgspec.Struct, rename=lambda name: f"tokenizer.ggml.{name}"):
    tokens: list[str]
    token_type: list[PieceType]
    eos_token_id: int


class _PieceKeys(_TokenizerKeys, rename=lambda name: f"tokenizer.ggml.{name}"):
    """The keys of a tokenizer of kind `llama`: SentencePiece's."""

    scores: list[float]


class _ByteLevelKeys(_TokenizerKeys, rename=lambda name: f"tokenizer.ggml.{name}"):
    """The keys of a tokenizer of kind `gpt2`."""

    #: Pairs of tokens to join, each with a space between.
    merges: list[str]
    #: How a text is cut, by a well-known name.
    pre: str


def _tokenizer_keys(path: Path, where: str) -> dict[str, Json]:
    """Return the keys of a GGUF file that are about its tokenizer.

    Raises:
        Unavailable: the library `gguf` is not installed.
        BadData: it is no such file.
    """
    try:
        from gguf import GGUFReader  # noqa: PLC0415 - an extra
    except ImportError as error:
        what = "a GGUF file needs the library gguf"
        raise Unavailable(what, then=install_extra("eval")) from error
    try:
        fields = GGUFReader(path).fields
        return {
            name: field.contents()
            for name, field in fields.items()
            if name.startswith("tokenizer.ggml.")
        }
    except (ValueError, LookupError, ArithmeticError, RecursionError) as error:
        raise BadData(f"not a whole GGUF file ({error!r})", where) from error


def from_gguf(path: Path, where: str) -> ParsedTokenizer:
    """Return the tokenizer of a GGUF file: kind `gpt2` or `llama`.

    Raises:
        BadData: there is none, or one of another kind.
    """
    keys = _tokenizer_keys(path, where)
    model = keys.get("tokenizer.ggml.model")
    try:
        if model == "gpt2":
            return _byte_level(msgspec.convert(keys, _ByteLevelKeys), where)
        if model == "llama":
            return _pieces(msgspec.convert(keys, _PieceKeys), where)
    except ValueError as error:
        raise BadData(f"its tokenizer is broken ({error!r})", where) from error
    raise BadData(f"its tokenizer is of kind {model!r}, not gpt2 or llama", where)


def _pieces(keys: _PieceKeys, where: str) -> ParsedTokenizer:
    columns = (keys.tokens, keys.scores, keys.token_type)
    pieces = list(zip(*columns, strict=True))
    vocabulary = {text: number for number, text in enumerate(keys.tokens)}
    if len(vocabulary) < len(pieces):
        raise BadData("two of its pieces have the same text", where)
    hidden = {PieceType.UNKNOWN, PieceType.CONTROL, PieceType.UNUSED}
    normal = [(text, score) for text, score, kind in pieces if kind is PieceType.NORMAL]
    order = sorted(normal, key=lambda piece: -piece[1])
    unknown = (text for text, _, kind in pieces if kind is PieceType.UNKNOWN)
    model = bpe_model(
        vocabulary,
        [list(pair) for pair in all_merges(text for text, _ in order)],
        unk_token=next(unknown, None),
        fuse_unk=True,
        byte_fallback=True,
    )
    added = {
        number: (text, kind in hidden)
        for number, (text, _, kind) in enumerate(pieces)
        if kind in hidden or kind is PieceType.USER_DEFINED
    }
    return ParsedTokenizer(
        kind=VocabularyKind.SENTENCEPIECE,
        tokenizer_json=orjson.dumps(sentencepiece_json(model, added)),
        token_bytes=[
            None if kind in hidden else piece_bytes(text) for text, _, kind in pieces
        ],
        vocab_size=len(pieces),
        eos_id=keys.eos_token_id,
        special_ids=tuple(n for n, (_, special) in added.items() if special),
    )


def _byte_level(keys: _ByteLevelKeys, where: str) -> ParsedTokenizer:
    added: dict[int, tuple[str, bool]] = {}
    token_bytes: list[bytes | None] = []
    tokens = zip(keys.tokens, keys.token_type, strict=True)
    for number, (text, piece_type) in enumerate(tokens):
        if piece_type is PieceType.NORMAL:
            token_bytes.append(to_bytes(text))
        else:
            special = piece_type is not PieceType.USER_DEFINED
            added[number] = (text, special)
            token_bytes.append(None if special else text.encode())
    return ParsedTokenizer(
        kind=VocabularyKind.BYTE_LEVEL,
        tokenizer_json=orjson.dumps(
            byte_level_json(
                vocabulary={text: number for number, text in enumerate(keys.tokens)},
                # A merge has one space, between its halves: a token has none.
                merges=[merge.split(" ") for merge in keys.merges],
                added=added,
                split=pre_tokenizer(keys.pre, where),
                whole_first=False,
            )
        ),
        token_bytes=token_bytes,
        vocab_size=len(keys.tokens),
        eos_id=keys.eos_token_id,
        special_ids=tuple(number for number, (_, special) in added.items() if special),
    )
