"""A tokenizer in memory, and a `tokenizer.json` read: ids, and the bytes of tokens.

A `tokenizer.json` is as models on the Hub have it: byte-level, or SentencePiece's.
Specification: the library `tokenizers` of Hugging Face, whose serialisation it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from curation.core.json_types import Json
from curation.system.errors import BadData

#: Bytes that every JSON text of ASCII may hold.
_PRINTABLE: Final = frozenset(range(0x20, 0x7F))
#: No vocabulary has more ids: the largest known have 262,144.
_MOST: Final = 1 << 22
#: End tokens of an answer, where the files name none; best first.
_END_NAMES: Final = (
    *("<|im_end|>", "<|eot_id|>", "<|end|>", "<end_of_turn>", "<|endoftext|>"),
    *("<|end_of_text|>", "</s>", "<eos>"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedTokenizer:
    """One tokenizer, ready to be written to the cache.

    Example:
        >>> ParsedTokenizer(
        ...     tokenizer_json=b"{...}",
        ...     token_bytes=[b"a", b"b", b"ab", None],
        ...     vocab_size=4,
        ...     eos_id=3,
        ...     special_ids=(3,),
        ... )
    """

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
        BadData: it cannot spell JSON, has too many ids, or an invalid end token.
    """
    spelled = {
        content[0] for content in parsed.token_bytes if content and len(content) == 1
    }
    missing = sorted(_PRINTABLE - spelled)
    if missing:
        examples = "".join(map(chr, missing[:10]))
        raise BadData(
            f"it has no token for {len(missing)} ASCII characters ({examples})",
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
        BadData: they are not a vocabulary's ids.
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
        BadData: no file names it.
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
            config_size = table.get("vocab_size")
            if isinstance(config_size, int):
                size = max(size, config_size)
    return size


_FIRST_OTHER: Final = 0x100
_THEMSELVES: Final = (range(0x21, 0x7F), range(0xA1, 0xAD), range(0xAE, 0x100))


def _alphabet() -> str:
    free = iter(range(_FIRST_OTHER, 2 * _FIRST_OTHER))
    return "".join(
        chr(byte if any(byte in printable for printable in _THEMSELVES) else next(free))
        for byte in range(256)
    )


#: The character of byte i at index i.
CHARACTERS: Final = _alphabet()
_BYTES: Final = {character: byte for byte, character in enumerate(CHARACTERS)}
_TO_CHARACTERS: Final = dict(enumerate(CHARACTERS))


def to_bytes(token: str) -> bytes | None:
    """Return the bytes of a token; None if it holds a character of no byte."""
    try:
        return bytes(map(_BYTES.__getitem__, token))
    except KeyError:
        return None


def to_token(content: bytes) -> str:
    """Return bytes as a byte-level vocabulary writes them."""
    return content.decode("latin-1").translate(_TO_CHARACTERS)


#: What SentencePiece writes for a space.
SPACE: Final = "▁"
#: The step of a `tokenizer.json` that writes spaces so.
MARKED_SPACES: Final[dict[str, Json]] = {
    "type": "Replace",
    "pattern": {"String": " "},
    "content": SPACE,
}


_BYTE: Final = re.compile(r"<0x([0-9A-F]{2})>")
_SENTENCEPIECE: Final = frozenset({"Metaspace", "ByteFallback"})
#: The member with the steps of a sequence, by the part of the file.
_SEQUENCES: Final = ("pretokenizers", "decoders", "normalizers")


class _AddedToken(msgspec.Struct):
    id: int
    content: str
    special: bool


class _Model(msgspec.Struct):
    #: Ids by text; or, for a unigram model, text and score by id.
    vocab: dict[str, int] | list[tuple[str, float]]
    type: str | None = None


class _TokenizerJson(msgspec.Struct):
    model: _Model
    added_tokens: list[_AddedToken] | None = None
    pre_tokenizer: Any = None
    decoder: Any = None
    normalizer: Any = None


def from_tokenizer_json(
    content: bytes, configs: Sequence[Mapping[str, Json]], where: str
) -> ParsedTokenizer:
    """Return the tokenizer of a `tokenizer.json`.

    Args:
        content: The file.
        configs: As `end_token` takes them.
        where: What messages call it.

    Raises:
        BadData: it is not such a file, or of a kind whose tokens have no bytes.
    """
    try:
        parsed = msgspec.json.decode(content, type=_TokenizerJson)
        return _parse(parsed, content, configs, where)
    except (ValueError, RecursionError) as error:
        raise BadData(f"not a tokenizer.json ({error!r})", where) from error


def piece_bytes(text: str) -> bytes:
    """Return the bytes of a piece: text, or one byte as `<0x0A>` and its like."""
    byte = _BYTE.fullmatch(text)
    return bytes.fromhex(byte[1]) if byte else text.replace(SPACE, " ").encode()


def has_pieces(*parts: Json) -> bool | None:
    """Return whether a `tokenizer.json` has pieces of text, as SentencePiece's.

    They are texts with U+2581 for a space, and `<0x0A>` for a byte that no text has.
    False if every character is one byte (GPT-2); None for another kind.

    Args:
        parts: Its pre-tokenizer, decoder and normalizer.
    """
    steps = [step for part in parts for step in steps_of(part)]
    names = {str(step.get("type")) for step in steps}
    if "ByteLevel" in names:
        return False
    replaces = any(step.get("content") == SPACE for step in steps)
    return True if replaces or names & _SENTENCEPIECE else None


def steps_of(part: Json) -> Iterator[dict[str, Json]]:
    """Yield the steps of a part of a `tokenizer.json`, those in sequences too."""
    if isinstance(part, dict):
        yield part
        for name in _SEQUENCES:
            steps = part.get(name)
            for step in steps if isinstance(steps, list) else ():
                yield from steps_of(step)


def _parse(
    parsed: _TokenizerJson,
    content: bytes,
    configs: Sequence[Mapping[str, Json]],
    where: str,
) -> ParsedTokenizer:
    of_pieces = has_pieces(parsed.pre_tokenizer, parsed.decoder, parsed.normalizer)
    vocabulary = parsed.model.vocab
    ids = (
        vocabulary
        if isinstance(vocabulary, dict)
        else {piece: number for number, (piece, _) in enumerate(vocabulary)}
    )
    if of_pieces is None or not ids:
        named = parsed.model.type
        raise BadData(
            f"a tokenizer of kind {named!r} whose tokens have no certain bytes",
            where,
            "choose a byte-level or SentencePiece one",
        )
    added = {token.id: token for token in parsed.added_tokens or ()}
    length = id_count([*ids.values(), *added], where)
    token_bytes = _bytes_by_id(ids, added, length, of_pieces=of_pieces)
    special = sorted(number for number, token in added.items() if token.special)
    names = {token.content: number for number, token in added.items()}
    return ParsedTokenizer(
        tokenizer_json=content,
        token_bytes=token_bytes,
        vocab_size=padded_size(configs, length),
        eos_id=end_token(configs, {**ids, **names}, where),
        special_ids=tuple(special),
    )


def _bytes_by_id(
    ids: Mapping[str, int],
    added: Mapping[int, _AddedToken],
    length: int,
    *,
    of_pieces: bool,
) -> list[bytes | None]:
    contents: list[bytes | None] = [None] * length
    spelled = piece_bytes if of_pieces else to_bytes
    for text, number in ids.items():
        contents[number] = spelled(text)
    added_text = piece_bytes if of_pieces else str.encode
    for number, token in added.items():
        contents[number] = None if token.special else added_text(token.content)
    return contents
