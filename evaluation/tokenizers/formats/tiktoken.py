"""Vocabularies of bytes in the order in which they are merged: tiktoken, tekken.

A tiktoken file has a line for each token, its bytes in base64 and its rank
(specification: openai/tiktoken, `load_tiktoken_bpe`); a tekken file is JSON with the
same, its special tokens before them (specification: mistral-common, Tekkenizer).
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Final

import orjson

from curation.system.errors import BadData
from evaluation.tokenizers.formats.byte_alphabet import to_token
from evaluation.tokenizers.formats.json_writer import all_merges, byte_level_json
from evaluation.tokenizers.formats.parsed_tokenizer import (
    ParsedTokenizer,
    VocabularyKind,
    id_count,
)
from evaluation.tokenizers.formats.pre_tokenizers import split_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import UntypedJson

_TEKKEN_NAMES: Final = ("<unk>", "<s>", "</s>")
_TEKKEN_END: Final = 2


def from_tiktoken(  # noqa: PLR0913 (a tiktoken file says nothing but bytes)
    content: bytes,
    *,
    split: Sequence[UntypedJson],
    special: Sequence[str],
    eos: str,
    vocab_size: int,
    where: str,
) -> ParsedTokenizer:
    """Return the tokenizer of a tiktoken file, its special tokens behind the rest.

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
    names = {first + place: name for place, name in enumerate(special)}
    end = next((number for number, name in names.items() if name == eos), -1)
    return _parts(ranks, names, split, end, vocab_size)


def from_tekken(content: bytes, where: str) -> ParsedTokenizer:
    """Return the tokenizer of a `tekken.json`.

    Raises:
        BadData: it is no such file.
    """
    try:
        given = orjson.loads(content)
        config = given["config"]
        count = int(config["default_num_special_tokens"])
        size = int(config["default_vocab_size"])
        id_count((count, size), where)
        names = {
            number: _TEKKEN_NAMES[number]
            if number < len(_TEKKEN_NAMES)
            else f"<SPECIAL_{number}>"
            for number in range(count)
        }
        for each in given.get("special_tokens") or ():
            names[int(each["rank"])] = str(each["token_str"])
        ranks = {
            count + int(each["rank"]): base64.b64decode(each["token_bytes"])
            for each in given["vocab"][: size - count]
        }
        split = split_by(str(config["pattern"]))
    except (ValueError, LookupError, TypeError) as error:
        raise BadData(f"not a tekken file ({error!r})", where) from error
    id_count([*ranks, *names], where)
    return _parts(ranks, names, split, _TEKKEN_END, size)


def _parts(
    ranks: Mapping[int, bytes],
    names: Mapping[int, str],
    split: Sequence[UntypedJson],
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
