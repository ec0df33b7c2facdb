"""The byte-level tokenizer of a GGUF file, which the library `gguf` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec
import orjson

from curation.system.errors import BadData, Unavailable
from curation.system.extras import install_extra
from evaluation.tokenizers.vocabulary import (
    ParsedTokenizer,
    VocabularyKind,
    byte_level_json,
    pre_tokenizer,
    to_bytes,
)

if TYPE_CHECKING:
    from pathlib import Path

#: Types of tokens: an ordinary one, and one that a user has added.
_NORMAL, _USER_DEFINED = 1, 4
_PREFIX: Final = "tokenizer.ggml."


class _Keys(msgspec.Struct):
    """What a GGUF file says of a byte-level tokenizer."""

    model: Literal["gpt2"]
    tokens: list[str]
    token_type: list[int]
    eos_token_id: int
    #: Pairs of tokens to join, each with a space between.
    merges: list[str]
    #: How a text is cut, by a well-known name.
    pre: str


def from_gguf(path: Path, where: str) -> ParsedTokenizer:
    """Return the tokenizer of a GGUF file.

    Raises:
        Unavailable: the library `gguf` is not installed.
        BadData: it is no such file, or has no byte-level tokenizer.
    """
    try:
        from gguf import GGUFReader  # noqa: PLC0415 - an extra
    except ImportError as error:
        what = "a GGUF file needs the library gguf"
        raise Unavailable(what, then=install_extra("eval")) from error
    try:
        named = {
            name.removeprefix(_PREFIX): field.contents()
            for name, field in GGUFReader(path).fields.items()
            if name.startswith(_PREFIX)
        }
        keys = msgspec.convert(named, _Keys)
        return _byte_level(keys, where)
    except (ValueError, LookupError, ArithmeticError, RecursionError) as error:
        raise BadData(f"no byte-level tokenizer of GGUF ({error!r})", where) from error


def _byte_level(keys: _Keys, where: str) -> ParsedTokenizer:
    added: dict[int, tuple[str, bool]] = {}
    token_bytes: list[bytes | None] = []
    tokens = zip(keys.tokens, keys.token_type, strict=True)
    for number, (text, kind) in enumerate(tokens):
        if kind == _NORMAL:
            token_bytes.append(to_bytes(text))
        else:
            special = kind != _USER_DEFINED
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
