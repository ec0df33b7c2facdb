"""A SentencePiece vocabulary: pieces with scores (its `.model` file, or a GGUF).

The `.model` file is a protocol buffer (specification: google/sentencepiece,
src/sentencepiece_model.proto); only the pieces, the kind of model and the end token
are read. The library of that name is not used: which kind of model a file holds is
only in its protocol buffer, for which it wants the library `protobuf` as well.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import orjson

from curation.system.errors import BadData
from evaluation.tokenizers.formats.json_writer import (
    SPACE,
    all_merges,
    sentencepiece_json,
)
from evaluation.tokenizers.formats.parsed_tokenizer import (
    ParsedTokenizer,
    VocabularyKind,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json

_BYTE: Final = re.compile(r"<0x([0-9A-F]{2})>")
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_PIECES, _TRAINER = 1, 2
_MODEL_TYPE, _EOS_ID = 3, 42
_UNIGRAM, _PAIRS = 1, 2
_LONGEST_VARINT: Final = 10


class PieceType(IntEnum):
    """What a piece is."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One entry of the vocabulary; its id is its position."""

    text: str
    score: float
    type: PieceType


def piece_bytes(text: str) -> bytes:
    """Return the bytes of a piece: text, or one byte as `<0x0A>` and its like."""
    byte = _BYTE.fullmatch(text)
    return bytes.fromhex(byte[1]) if byte else text.replace(SPACE, " ").encode()


def from_sentencepiece(content: bytes, where: str) -> ParsedTokenizer:
    """Return the tokenizer of a SentencePiece `.model` file.

    Raises:
        BadData: it is no such file, or its kind is neither BPE nor unigram.
    """
    try:
        pieces, kind, eos = _read(content)
    except (IndexError, ValueError, struct.error, OverflowError) as error:
        raise BadData(f"not a SentencePiece model ({error!r})", where) from error
    if not pieces or kind not in {_UNIGRAM, _PAIRS}:
        raise BadData("not a SentencePiece model of kind BPE or unigram", where)
    return from_pieces(pieces, unigram=kind == _UNIGRAM, eos_id=eos, where=where)


def from_pieces(
    pieces: Sequence[Piece], *, unigram: bool, eos_id: int, where: str
) -> ParsedTokenizer:
    """Return the tokenizer of a SentencePiece vocabulary.

    Raises:
        BadData: two pieces have the same text.
    """
    vocabulary = {piece.text: number for number, piece in enumerate(pieces)}
    if len(vocabulary) < len(pieces):
        raise BadData("two of its pieces have the same text", where)
    hidden = {PieceType.UNKNOWN, PieceType.CONTROL, PieceType.UNUSED}
    special = (number for number, piece in enumerate(pieces) if piece.type in hidden)
    added = {
        number: (piece.text, piece.type in hidden)
        for number, piece in enumerate(pieces)
        if piece.type in hidden or piece.type is PieceType.USER_DEFINED
    }
    model = _unigram(pieces) if unigram else _pairs(pieces, vocabulary)
    return ParsedTokenizer(
        kind=VocabularyKind.SENTENCEPIECE,
        tokenizer_json=orjson.dumps(sentencepiece_json(model, added)),
        token_bytes=[
            None if piece.type in hidden else piece_bytes(piece.text)
            for piece in pieces
        ],
        vocab_size=len(pieces),
        eos_id=eos_id,
        special_ids=tuple(special),
    )


def _unknown(pieces: Sequence[Piece]) -> int | None:
    unknown = (
        number for number, piece in enumerate(pieces) if piece.type is PieceType.UNKNOWN
    )
    return next(unknown, None)


def _unigram(pieces: Sequence[Piece]) -> dict[str, Json]:
    return {
        "type": "Unigram",
        "unk_id": _unknown(pieces),
        "byte_fallback": True,
        "vocab": [[piece.text, piece.score] for piece in pieces],
    }


def _pairs(pieces: Sequence[Piece], vocabulary: dict[str, int]) -> dict[str, Json]:
    unknown = _unknown(pieces)
    normal = [piece for piece in pieces if piece.type is PieceType.NORMAL]
    order = sorted(normal, key=lambda piece: -piece.score)
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None if unknown is None else pieces[unknown].text,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": True,
        "ignore_merges": False,
        "vocab": dict(vocabulary),
        "merges": [list(pair) for pair in all_merges(piece.text for piece in order)],
    }


def _read(content: bytes) -> tuple[list[Piece], int, int]:
    """Return pieces, kind of model and id of the end token."""
    pieces: list[Piece] = []
    # What the specification says for a field that is not written.
    kind, eos = _UNIGRAM, 2
    for field, value in _fields(content):
        if field == _PIECES and isinstance(value, bytes):
            pieces.append(_piece(value))
        elif field == _TRAINER and isinstance(value, bytes):
            trained = dict(_fields(value))
            kind = _integer(trained.get(_MODEL_TYPE, kind))
            eos = _integer(trained.get(_EOS_ID, eos))
    return pieces, kind, eos


def _piece(content: bytes) -> Piece:
    found = dict(_fields(content))
    text, score = found.get(1, b""), found.get(2, b"\0\0\0\0")
    if not isinstance(text, bytes) or not isinstance(score, bytes):
        raise TypeError(found)
    return Piece(
        text=text.decode(),
        score=struct.unpack("<f", score)[0],
        type=PieceType(_integer(found.get(3, 1))),
    )


def _integer(value: bytes | int) -> int:
    if isinstance(value, int):
        return value
    raise ValueError(value)


def _fields(content: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Yield number and value of the fields of one message, as they stand."""
    place = 0
    while place < len(content):
        key, place = _varint(content, place)
        form = key & 7
        if form == _VARINT:
            value, place = _varint(content, place)
            yield key >> 3, value
            continue
        sizes = {_FIXED_64: 8, _FIXED_32: 4}
        if form == _BYTES:
            size, place = _varint(content, place)
        elif form in sizes:
            size = sizes[form]
        else:
            raise ValueError(form)
        if place + size > len(content):
            raise ValueError(size)
        yield key >> 3, content[place : place + size]
        place += size


def _varint(content: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(_LONGEST_VARINT):
        byte = content[place]
        place += 1
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:  # noqa: PLR2004 (the bit that says that more bytes follow)
            return value, place
    raise ValueError(value)
