"""No constraint at all: the floor that engines are compared with.

Every token is in its mask and every text may end, so it declares everything, accepts
every valid instance, and blocks no invalid one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

ABOUT = {
    "summary": "No constraint: every token is allowed, every text may end",
    "licence": "Apache-2.0",
}


class _Matcher:
    """A text that may be anything."""

    def __init__(self, mask: bytes) -> None:
        self._mask = mask

    def mask(self) -> bytes:
        """Return every token."""
        return self._mask

    def commit(self, token: int) -> bool:
        """Take the token, if there is one of this id."""
        return 0 <= token < 8 * len(self._mask)

    def may_end(self) -> bool:
        """Tell that it may."""
        return True

    def forced(self) -> None:
        """Tell that nothing is ever known to be forced."""


class _Engine:
    """What stands where an engine would."""

    version = "1"

    def __init__(self, vocab_size: int) -> None:
        self._mask = b"\xff" * ((vocab_size + 31) // 32 * 4)

    def compile(self, schema: str) -> str:
        """Return the schema as it is; it is not even read."""
        return schema

    def start(self, _grammar: object) -> _Matcher:
        """Return a text's state."""
        return _Matcher(self._mask)

    def warnings(self, _grammar: object) -> tuple[str, ...]:
        """Return nothing."""
        return ()


def load(tokenizer: Any, _options: Mapping[str, object]) -> _Engine:  # noqa: ANN401 (typed by shape)
    """Return the engine."""
    return _Engine(tokenizer.vocab_size)
