"""A `tokenizer.json` as the Hub has it: byte-level, or of SentencePiece's kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from curation.system.errors import BadData
from evaluation.tokenizers.formats.byte_alphabet import to_bytes
from evaluation.tokenizers.formats.json_writer import SPACE
from evaluation.tokenizers.formats.parsed_tokenizer import (
    ParsedTokenizer,
    VocabularyKind,
    end_token,
    id_count,
    padded_size,
)
from evaluation.tokenizers.formats.sentencepiece import piece_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.core.json_types import UntypedJson

_SENTENCEPIECE: Final = frozenset({"Metaspace", "ByteFallback"})


def from_tokenizer_json(
    content: bytes, configs: Sequence[Mapping[str, UntypedJson]], where: str
) -> ParsedTokenizer:
    """Return the tokenizer of a `tokenizer.json`.

    `configs` as `end_token` takes them.

    Raises:
        BadData: it is no such file, or of a kind whose tokens have no bytes.
    """
    try:
        return _parts(content, configs, where)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadData(f"not a tokenizer.json ({error!r})", where) from error


def vocabulary_kind(given: UntypedJson) -> VocabularyKind | None:
    """Return how a `tokenizer.json` writes bytes; None for another kind."""
    parts = ("pre_tokenizer", "decoder", "normalizer")
    steps = [step for part in parts for step in steps_of(given.get(part))]
    names = {step.get("type") for step in steps}
    if "ByteLevel" in names:
        return VocabularyKind.BYTE_LEVEL
    replaces = any(step.get("content") == SPACE for step in steps)
    return VocabularyKind.SENTENCEPIECE if replaces or names & _SENTENCEPIECE else None


def steps_of(part: UntypedJson) -> Iterator[dict[str, UntypedJson]]:
    """Yield the steps of a part of a `tokenizer.json`, those in sequences too."""
    if isinstance(part, dict):
        yield part
        for inner in ("pretokenizers", "decoders", "normalizers"):
            for each in part.get(inner) or ():
                yield from steps_of(each)


def _parts(
    content: bytes, configs: Sequence[Mapping[str, UntypedJson]], where: str
) -> ParsedTokenizer:
    given = orjson.loads(content)
    kind = vocabulary_kind(given)
    vocabulary = given["model"]["vocab"]
    ids: dict[str, int] = (
        vocabulary
        if isinstance(vocabulary, dict)
        else {piece: number for number, (piece, _) in enumerate(vocabulary)}
    )
    if kind is None or not ids:
        named = given["model"].get("type")
        raise BadData(
            f"a tokenizer of kind {named!r} whose tokens have no certain bytes",
            where,
            "choose a byte-level, SentencePiece or tiktoken one",
        )
    added = {each["id"]: each for each in given.get("added_tokens") or ()}
    length = id_count([*ids.values(), *added], where)
    token_bytes = _bytes_by_id(ids, added, kind, length)
    special = tuple(sorted(n for n, each in added.items() if each["special"]))
    names = {added[number]["content"]: number for number in added}
    return ParsedTokenizer(
        kind=kind,
        tokenizer_json=content,
        token_bytes=token_bytes,
        vocab_size=padded_size(configs, length),
        eos_id=end_token(configs, {**ids, **names}, where),
        special_ids=special,
    )


def _bytes_by_id(
    ids: Mapping[str, int],
    added: Mapping[int, Mapping[str, UntypedJson]],
    kind: VocabularyKind,
    length: int,
) -> list[bytes | None]:
    found: list[bytes | None] = [None] * length
    for text, number in ids.items():
        if kind is VocabularyKind.SENTENCEPIECE:
            found[number] = piece_bytes(text)
        else:
            found[number] = to_bytes(text)
    for number, each in added.items():
        text = each["content"]
        sentencepiece = kind is VocabularyKind.SENTENCEPIECE
        ordinary = piece_bytes(text) if sentencepiece else text.encode()
        found[number] = None if each["special"] else ordinary
    return found
