"""A vocabulary small enough to see through: every byte, some words, and the rest.

Also run by the interpreters of engines' environments: the standard library only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: Pairs that merge, in order, and so what words there are.
_MERGES = (
    (b"{", b'"'),
    (b'"', b":"),
    (b'":', b" "),
    (b'"', b"}"),
    (b"1", b"2"),
    (b"a", b"a"),
    (b"t", b"r"),
    (b"u", b"e"),
    (b"tr", b"ue"),
)
_WORDS = tuple(first + second for first, second in _MERGES)


def _contents() -> list[bytes | None]:
    special: list[bytes | None] = [None, None]
    padding: list[bytes | None] = [None] * 3
    return [*special, *(bytes([each]) for each in range(256)), *_WORDS, *padding]


@dataclass(slots=True, kw_only=True)
class SmallTokenizer:
    """Ids: 0 and 1 are special (1 is the end), then bytes, then words, then padding."""

    token_bytes: Sequence[bytes | None] = field(default_factory=_contents)
    vocab_size: int = 2 + 256 + len(_WORDS) + 3
    eos_id: int = 1
    special_ids: Sequence[int] = (0, 1)
    kind: str = "byte_level"
    tokenizer_json: str = ""

    def encode(self, text: str) -> list[int]:
        """Cut a text into the longest tokens that fit."""
        ids = {each: index for index, each in enumerate(self.token_bytes) if each}
        rest, tokens = text.encode(), []
        while rest:
            size = max(n for n in range(1, 6) if rest[:n] in ids)
            tokens.append(ids[rest[:size]])
            rest = rest[size:]
        return tokens


def doubled() -> SmallTokenizer:
    """Return a tokenizer that has every letter twice, as SentencePiece's have."""
    contents = [*_contents(), *(bytes([each]) for each in range(0x21, 0x7F))]
    return SmallTokenizer(
        token_bytes=contents, vocab_size=len(contents) + 5, kind="sentencepiece"
    )


def small_tokenizer(folder: Path) -> SmallTokenizer:
    """Return the tokenizer, with a `tokenizer.json` in a folder."""
    file = folder / "tokenizer.json"
    made = SmallTokenizer(tokenizer_json=str(file))
    file.write_text(json.dumps(_described(made)), encoding="utf-8")
    return made


def _described(tokenizer: SmallTokenizer) -> dict[str, object]:
    printing = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(256, 512))
    letters = [chr(n if n in printing else next(others)) for n in range(256)]

    def spelled(content: bytes) -> str:
        return "".join(letters[byte] for byte in content)

    bytewise = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    flags = ("single_word", "lstrip", "rstrip", "normalized")
    return {
        "version": "1.0",
        "added_tokens": [
            {
                "id": each,
                "content": f"<|special_{each}|>",
                "special": True,
                **dict.fromkeys(flags, False),
            }
            for each in tokenizer.special_ids
        ],
        "pre_tokenizer": bytewise,
        "decoder": bytewise,
        "model": {
            "type": "BPE",
            "vocab": {
                spelled(content): index
                for index, content in enumerate(tokenizer.token_bytes)
                if content
            },
            "merges": [f"{spelled(one)} {spelled(other)}" for one, other in _MERGES],
        },
    }
