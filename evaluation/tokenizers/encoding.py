"""From texts to ids, so that the bytes of the ids are exactly those of the text.

A model's own encoding is used as far as it keeps the text: no special tokens, no
space put before it, no normalisation. Where it does not (a U+2581 in the text of a
SentencePiece tokenizer, an unknown character) the text is spelled greedily with the
longest tokens instead.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import orjson

from evaluation.tokenizers.formats.huggingface_json import steps_of, vocabulary_kind
from evaluation.tokenizers.formats.json_writer import MARKED_SPACES, SPACE
from evaluation.tokenizers.formats.parsed_tokenizer import VocabularyKind
from evaluation.tokenizers.formats.sentencepiece import piece_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tokenizers import Tokenizer

    from curation.core.json_types import Json

#: Stands for a token without bytes: no text has this byte, in UTF-8.
_NO_TEXT: Final = b"\xff"


class Encoder:
    """Encodes texts with one tokenizer, byte for byte.

    Example:
        >>> encoder = Encoder(plain_json(tokenizer_json), token_bytes, special_ids)
        >>> encoder(["{}"])
        [[6150]]
    """

    __slots__ = ("_bytes", "_ids", "_longest", "_tokenizer")

    def __init__(
        self,
        plain: bytes,
        token_bytes: Sequence[bytes | None],
        special_ids: Collection[int],
    ) -> None:
        """Load a tokenizer.

        Args:
            plain: What `plain_json` made of its `tokenizer.json`.
            token_bytes: The bytes of every token by id; None for a special one.
            special_ids: The ids of special tokens.

        Raises:
            ImportError: the library `tokenizers` is not installed.
            ValueError: the library gives an added token another id than the file.
        """
        # Said once here, or the library warns of every process started after it.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra

        self._tokenizer: Tokenizer = Tokenizer.from_buffer(plain)
        _check_ids(self._tokenizer, token_bytes, special_ids)
        self._tokenizer.encode_special_tokens = True
        self._bytes = [
            _NO_TEXT if content is None else content for content in token_bytes
        ]
        self._ids: Mapping[bytes, int] = {}
        self._longest = 0

    def __call__(self, texts: Sequence[str]) -> list[list[int] | None]:
        """Return the ids of every text, None where no tokens spell it."""
        encoded = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [
            ids if self._spell(ids) == text.encode() else self.greedy(text)
            for text, ids in zip(
                texts, (encoding.ids for encoding in encoded), strict=True
            )
        ]

    def _spell(self, ids: Sequence[int]) -> bytes | None:
        try:
            return b"".join([self._bytes[number] for number in ids])
        except IndexError:
            return None

    def greedy(self, text: str) -> list[int] | None:
        """Return the ids of the longest token at every place; None if that fails."""
        if not self._ids:
            known = [
                (content, number)
                for number, content in enumerate(self._bytes)
                if content
            ]
            self._ids = dict(reversed(known))
            self._longest = max(map(len, self._ids), default=0)
        content = text.encode()
        ids: list[int] = []
        place = 0
        while place < len(content):
            ends = range(min(len(content), place + self._longest), place, -1)
            found = (self._ids.get(content[place:end]) for end in ends)
            token = next((number for number in found if number is not None), None)
            if token is None:
                return None
            ids.append(token)
            place += len(self._bytes[token])
        return ids


def _check_ids(
    tokenizer: Tokenizer,
    token_bytes: Sequence[bytes | None],
    special_ids: Collection[int],
) -> None:
    """Check that added tokens have the same ids in the library and in the file.

    Raises:
        ValueError: one has not.
    """
    for number, token in tokenizer.get_added_tokens_decoder().items():
        known = token_bytes[number] if number < len(token_bytes) else None
        same = known in {token.content.encode(), piece_bytes(token.content)}
        if not same and number not in special_ids:
            raise ValueError(f"it gives {token.content!r} the id {number} of another")


def plain_json(tokenizer_json: bytes) -> bytes:
    """Return a tokenizer that changes nothing about a text before it cuts it."""
    given: dict[str, Json] = orjson.loads(tokenizer_json)
    parts = ("pre_tokenizer", "decoder", "normalizer")
    kind = vocabulary_kind(*(given.get(part) for part in parts))
    replaced_later = any(
        step.get("type") == "Metaspace" for step in steps_of(given.get("pre_tokenizer"))
    )
    for step in steps_of(given.get("pre_tokenizer")):
        if step.get("type") == "Metaspace":
            step["prepend_scheme"] = "never"
            step.pop("add_prefix_space", None)
        elif "add_prefix_space" in step:
            step["add_prefix_space"] = False
    keep = kind is VocabularyKind.SENTENCEPIECE and not replaced_later
    plain = {
        **given,
        "truncation": None,
        "padding": None,
        "post_processor": None,
        "normalizer": MARKED_SPACES if keep else None,
        "added_tokens": _plain_added_tokens(given.get("added_tokens")),
    }
    return orjson.dumps(plain)


def _plain_added_tokens(tokens: Json) -> list[Json]:
    """Return added tokens that are found in a text as they are written."""
    found: list[Json] = []
    for token in tokens if isinstance(tokens, list) else ():
        if isinstance(token, dict):
            # Its U+2581 means a space, but it would be looked for as it is.
            special = token["special"] or SPACE in str(token["content"])
            plain = {"single_word": False, "lstrip": False, "rstrip": False}
            found.append({**token, **plain, "special": special})
    return found
