"""The characters that stand for single bytes in a byte-level vocabulary.

Printable Latin-1 stands for itself; the other bytes, in order, are the characters
from U+0100 on (specification: GPT-2's encoder, `bytes_to_unicode`).
"""

from __future__ import annotations

from typing import Final

_FIRST_OTHER: Final = 0x100
_THEMSELVES: Final = (range(0x21, 0x7F), range(0xA1, 0xAD), range(0xAE, 0x100))


def _alphabet() -> str:
    others = iter(range(_FIRST_OTHER, 2 * _FIRST_OTHER))
    return "".join(
        chr(
            byte
            if any(byte in printable for printable in _THEMSELVES)
            else next(others)
        )
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
