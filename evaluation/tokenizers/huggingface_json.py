"""A `tokenizer.json` as models on the Hub have it: byte-level, or SentencePiece's.

Specification: the library `tokenizers` of Hugging Face, whose serialisation it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from curation.core.json_types import Json
from curation.system.errors import BadData
from evaluation.tokenizers.vocabulary import (
    SPACE,
    ParsedTokenizer,
    VocabularyKind,
    end_token,
    id_count,
    padded_size,
    to_bytes,
)

_BYTE: Final = re.compile(r"<0x([0-9A-F]{2})>")
_SENTENCEPIECE: Final = frozenset({"Metaspace", "ByteFallback"})
#: Where the steps of a sequence stand, by the part of the file that it is.
_SEQUENCES: Final = ("pretokenizers", "decoders", "normalizers")


class _AddedToken(msgspec.Struct):
    id: int
    content: str
    special: bool


class _Model(msgspec.Struct):
    #: Ids by text; or, of a unigram model, text and score by id.
    vocab: dict[str, int] | list[tuple[str, float]]
    type: str | None = None


class _TokenizerJson(msgspec.Struct):
    model: _Model
    added_tokens: list[_AddedToken] | None = None
    pre_tokenizer: msgspec.Raw = msgspec.Raw(b"null")
    decoder: msgspec.Raw = msgspec.Raw(b"null")
    normalizer: msgspec.Raw = msgspec.Raw(b"null")

    def kind(self) -> VocabularyKind | None:
        parts = (self.pre_tokenizer, self.decoder, self.normalizer)
        return vocabulary_kind(*map(msgspec.json.decode, parts))


def from_tokenizer_json(
    content: bytes, configs: Sequence[Mapping[str, Json]], where: str
) -> ParsedTokenizer:
    """Return the tokenizer of a `tokenizer.json`.

    Args:
        content: The file.
        configs: As `end_token` takes them.
        where: What messages call it.

    Raises:
        BadData: it is no such file, or of a kind whose tokens have no bytes.
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


def vocabulary_kind(*parts: Json) -> VocabularyKind | None:
    """Return how a `tokenizer.json` writes bytes; None for another kind.

    Args:
        parts: Its pre-tokenizer, decoder and normalizer.
    """
    steps = [step for part in parts for step in steps_of(part)]
    names = {str(step.get("type")) for step in steps}
    if "ByteLevel" in names:
        return VocabularyKind.BYTE_LEVEL
    replaces = any(step.get("content") == SPACE for step in steps)
    return VocabularyKind.SENTENCEPIECE if replaces or names & _SENTENCEPIECE else None


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
    kind = parsed.kind()
    vocabulary = parsed.model.vocab
    ids = (
        vocabulary
        if isinstance(vocabulary, dict)
        else {piece: number for number, (piece, _) in enumerate(vocabulary)}
    )
    if kind is None or not ids:
        named = parsed.model.type
        raise BadData(
            f"a tokenizer of kind {named!r} whose tokens have no certain bytes",
            where,
            "choose a byte-level or SentencePiece one",
        )
    added = {token.id: token for token in parsed.added_tokens or ()}
    length = id_count([*ids.values(), *added], where)
    token_bytes = _bytes_by_id(ids, added, kind, length)
    special = sorted(number for number, token in added.items() if token.special)
    names = {token.content: number for number, token in added.items()}
    return ParsedTokenizer(
        kind=kind,
        tokenizer_json=content,
        token_bytes=token_bytes,
        vocab_size=padded_size(configs, length),
        eos_id=end_token(configs, {**ids, **names}, where),
        special_ids=tuple(special),
    )


def _bytes_by_id(
    ids: Mapping[str, int],
    added: Mapping[int, _AddedToken],
    kind: VocabularyKind,
    length: int,
) -> list[bytes | None]:
    contents: list[bytes | None] = [None] * length
    for text, number in ids.items():
        if kind is VocabularyKind.SENTENCEPIECE:
            contents[number] = piece_bytes(text)
        else:
            contents[number] = to_bytes(text)
    for number, token in added.items():
        text = token.content
        sentencepiece = kind is VocabularyKind.SENTENCEPIECE
        ordinary = piece_bytes(text) if sentencepiece else text.encode()
        contents[number] = None if token.special else ordinary
    return contents
