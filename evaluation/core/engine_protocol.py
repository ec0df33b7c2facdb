"""The protocol of an engine.

An engine is one file with a function `load(tokenizer, options)` that returns an
`Engine`. The file is run by its path inside a worker whose environment may know
nothing of csbdata: it imports the standard library and its own engine, and is typed
by shape alone (the protocols here are never imported by it). docs/engines.md lists what
a matcher and an engine may offer in addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Tokenizer(Protocol):
    """What `load` gets: plain values and files, nothing to decode."""

    #: Bytes of every token by id; None for a special or an unused id.
    token_bytes: Sequence[bytes | None]
    #: Number of ids that a mask covers, padding included.
    vocab_size: int
    eos_id: int
    special_ids: Sequence[int]
    #: Path of a `tokenizer.json`.
    tokenizer_json: str


class Matcher(Protocol):
    """The state of one text under one grammar."""

    def mask(self) -> bytes | bytearray | memoryview:
        """Return the allowed tokens: bit i of little-endian 32-bit words is token i.

        At least `vocab_size` bits; computed again for the present state.
        """

    def commit(self, token: int) -> bool:
        """Take a token; False means that it is refused, an exception is a failure."""

    def may_end(self) -> bool:
        """Return whether the text so far is complete: the end token is allowed."""


class Engine(Protocol):
    """A constrained-decoding engine over one tokenizer."""

    def compile(self, schema: str) -> object:
        """Return a grammar. Any exception is a refusal, its message the reason."""

    def start(self, grammar: object) -> Matcher:
        """Return a matcher before its first token."""
