"""A tokenizer that was read from any format: what an engine needs of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from curation.system.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from curation.core.json_types import Json

#: Bytes that every JSON text of ASCII may hold.
_PRINTABLE: Final = frozenset(range(0x20, 0x7F))
#: No vocabulary has more ids: the largest known have 262,144.
_MOST: Final = 1 << 22
#: What ends an answer, where the files do not say; best first.
_END_NAMES: Final = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|end|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "</s>",
    "<eos>",
)


class VocabularyKind(StrEnum):
    """How the bytes of a token are written in its source."""

    BYTE_LEVEL = "byte_level"
    """A `tokenizer.json` whose every character stands for one byte (GPT-2)."""
    SENTENCEPIECE = "sentencepiece"
    """Text with U+2581 for a space, and `<0x0A>` for a byte that no text has."""
    TIKTOKEN = "tiktoken"
    """Bytes, in the order in which they are merged (tiktoken, tekken)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedTokenizer:
    """One tokenizer, ready to be written to the cache.

    Example:
        >>> ParsedTokenizer(
        ...     kind=VocabularyKind.TIKTOKEN,
        ...     tokenizer_json=b"{...}",
        ...     token_bytes=[b"a", b"b", b"ab", None],
        ...     vocab_size=4,
        ...     eos_id=3,
        ...     special_ids=(3,),
        ... )
    """

    kind: VocabularyKind
    #: A `tokenizer.json` as the library `tokenizers` reads it.
    tokenizer_json: bytes
    #: The bytes of every token by id; None for a special or an unused id.
    token_bytes: Sequence[bytes | None]
    #: Number of ids that a mask covers: at least the tokens, with a model's padding.
    vocab_size: int
    eos_id: int
    special_ids: tuple[int, ...]


def check_tokenizer(parsed: ParsedTokenizer, where: str) -> ParsedTokenizer:
    """Return a tokenizer if it can be measured with.

    Args:
        parsed: The tokenizer.
        where: What messages call it.

    Raises:
        BadData: it cannot spell JSON, has too many ids, or an end token that is none.
    """
    spelled = {
        content[0] for content in parsed.token_bytes if content and len(content) == 1
    }
    missing = sorted(_PRINTABLE - spelled)
    if missing:
        shown = "".join(map(chr, missing[:10]))
        raise BadData(
            f"it has no token for {len(missing)} ASCII characters ({shown})",
            where,
            "choose a tokenizer that can spell JSON",
        )
    id_count((parsed.vocab_size - 1,), where)
    if not 0 <= parsed.eos_id < parsed.vocab_size:
        raise BadData(f"its end token {parsed.eos_id} is none of its ids", where)
    return parsed


def id_count(ids: Collection[int], where: str) -> int:
    """Return the number of ids up to the largest of these.

    Raises:
        BadData: they are no ids of a vocabulary.
    """
    largest = max(ids)
    if min(ids) < 0 or largest >= _MOST:
        raise BadData("its ids are no ids of a vocabulary", where)
    return largest + 1


def end_token(
    configs: Sequence[Mapping[str, Json]], ids: Mapping[str, int], where: str
) -> int:
    """Return the id of the token that ends an answer.

    Args:
        configs: The contents of `tokenizer_config.json`, `generation_config.json` and
            `config.json`, where there are such; the first that names it decides.
        ids: The id of every token by its text.
        where: What messages call the tokenizer.

    Raises:
        BadData: nothing says which it is.
    """
    for config in configs:
        named = config.get("eos_token")
        name = named.get("content") if isinstance(named, dict) else named
        if isinstance(name, str) and name in ids:
            return ids[name]
        number = config.get("eos_token_id")
        first = number[0] if isinstance(number, list) and number else number
        if isinstance(first, int):
            return first
    for name in _END_NAMES:
        if name in ids:
            return ids[name]
    raise BadData(
        "nothing says which token ends an answer",
        where,
        'put {"eos_token": "..."} into tokenizer_config.json beside it',
    )


def padded_size(configs: Sequence[Mapping[str, Json]], tokens: int) -> int:
    """Return the number of ids that a model scores: its config's, or the tokens."""
    size = tokens
    for config in configs:
        inner = config.get("text_config")
        for table in (config, inner if isinstance(inner, dict) else {}):
            stated = table.get("vocab_size")
            if isinstance(stated, int):
                size = max(size, stated)
    return size
