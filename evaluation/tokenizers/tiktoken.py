"""Vocabularies of bytes in the order of their merges: tiktoken, tekken.

Specifications: openai/tiktoken, `load_tiktoken_bpe` (a line a token: base64 and rank);
mistral-common, Tekkenizer (JSON of the same, special tokens first). The library
`tiktoken` reads paths and addresses only, not files in wheels.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Final

import msgspec
import orjson

from curation.system.errors import BadData
from evaluation.tokenizers.vocabulary import (
    ParsedTokenizer,
    VocabularyKind,
    all_merges,
    byte_level_json,
    id_count,
    split_by,
    to_token,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import Json

_TEKKEN_NAMES: Final = ("<unk>", "<s>", "</s>")
_TEKKEN_END: Final = 2


class _TekkenConfig(msgspec.Struct):
    """How a tekken file is to be read."""

    #: Regular expression by which a text is cut.
    pattern: str
    #: Number of ids, special tokens included.
    default_vocab_size: int
    default_num_special_tokens: int


class _TekkenToken(msgspec.Struct):
    """A token, its bytes in base64."""

    rank: int
    token_bytes: str


class _TekkenSpecialToken(msgspec.Struct):
    """A special token; its rank is its id."""

    rank: int
    token_str: str


class _TekkenFile(msgspec.Struct):
    """What is read of a tekken file."""

    config: _TekkenConfig
    vocab: list[_TekkenToken]
    special_tokens: list[_TekkenSpecialToken] | None = None


def from_tiktoken(  # noqa: PLR0913 (a tiktoken file says nothing but bytes)
    content: bytes,
    *,
    split: Sequence[Json],
    special: Sequence[str],
    eos: str,
    vocab_size: int,
    where: str,
) -> ParsedTokenizer:
    """Return the tokenizer of a tiktoken file.

    Args:
        content: The file.
        split: How a text is cut, as `tokenizer.json` writes it.
        special: The special tokens; their ids are those behind the others.
        eos: Which of them ends an answer.
        vocab_size: Number of ids that a model scores; the tokens' if that is more.
        where: What messages call it.

    Raises:
        BadData: it is no such file.
    """
    ranks: dict[int, bytes] = {}
    try:
        for line in content.splitlines():
            if line.strip():
                token, rank = line.split()
                ranks[int(rank)] = base64.b64decode(token, validate=True)
    except (ValueError, binascii.Error) as error:
        raise BadData(f"not a tiktoken file ({error})", where) from error
    if not ranks or min(ranks) < 0 or max(ranks) >= 2 * len(ranks) + 256:
        raise BadData("not a tiktoken file (its ranks are no ids)", where)
    first = max(ranks) + 1
    names = {first + position: name for position, name in enumerate(special)}
    end = next((number for number, name in names.items() if name == eos), -1)
    return _byte_tokenizer(ranks, names, split, end, vocab_size)


def from_tekken(content: bytes, where: str) -> ParsedTokenizer:
    """Return the tokenizer of a `tekken.json`.

    Raises:
        BadData: it is no such file.
    """
    try:
        parsed = msgspec.json.decode(content, type=_TekkenFile)
        count = parsed.config.default_num_special_tokens
        size = parsed.config.default_vocab_size
        id_count((count, size), where)
        names = {
            number: _TEKKEN_NAMES[number]
            if number < len(_TEKKEN_NAMES)
            else f"<SPECIAL_{number}>"
            for number in range(count)
        }
        for special in parsed.special_tokens or ():
            names[special.rank] = special.token_str
        ranks = {
            count + token.rank: base64.b64decode(token.token_bytes)
            for token in parsed.vocab[: size - count]
        }
    except ValueError as error:
        raise BadData(f"not a tekken file ({error!r})", where) from error
    id_count([*ranks, *names], where)
    split = split_by(parsed.config.pattern)
    return _byte_tokenizer(ranks, names, split, _TEKKEN_END, size)


def _byte_tokenizer(
    ranks: Mapping[int, bytes],
    names: Mapping[int, str],
    split: Sequence[Json],
    eos_id: int,
    vocab_size: int,
) -> ParsedTokenizer:
    in_order = {to_token(ranks[number]): number for number in sorted(ranks)}
    length = max(*ranks, *names) + 1
    written = byte_level_json(
        vocabulary=in_order,
        merges=all_merges(in_order),
        added={number: (name, True) for number, name in names.items()},
        split=split,
        whole_first=True,
    )
    return ParsedTokenizer(
        kind=VocabularyKind.TIKTOKEN,
        tokenizer_json=orjson.dumps(written),
        token_bytes=[ranks.get(number) for number in range(length)],
        vocab_size=max(vocab_size, length),
        eos_id=eos_id,
        special_ids=tuple(sorted(names)),
    )
