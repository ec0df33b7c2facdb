"""No engine at all: every token is allowed, always. The floor of every comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.core.engine_protocol import Tokenizer

ABOUT = {
    "distribution": "",
    "version": "",
    "summary": "no constraint: every token is allowed, and the end at any time",
    "licence": "Apache-2.0",
    "install": "",
}


class _Matcher:
    """A text without any constraint."""

    def __init__(self, mask: bytes) -> None:
        self._mask = mask

    def mask(self) -> bytes:
        """Return the same mask every time."""
        return self._mask

    def commit(self, _token: int) -> bool:
        """Take any token."""
        return True

    def may_end(self) -> bool:
        """Let a text end anywhere."""
        return True


class _Engine:
    """An engine that allows every token."""

    version = ""

    def __init__(self, vocab_size: int) -> None:
        self._mask = b"\xff" * ((vocab_size + 31) // 32 * 4)

    def compile(self, _schema: str) -> None:
        """Take any schema, unread."""

    def start(self, _grammar: None) -> _Matcher:
        """Return a matcher."""
        return _Matcher(self._mask)


def load(tokenizer: Tokenizer, options: Mapping[str, object]) -> _Engine:  # noqa: ARG001 (all engines are loaded so)
    """Return the engine."""
    return _Engine(tokenizer.vocab_size)
