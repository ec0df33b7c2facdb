"""The protocol of an engine.

An engine is one file with a function `load(tokenizer, options)` that returns an
`Engine`. The file is run by its path inside a worker whose environment may know
nothing of csbdata: it imports the standard library and its own engine, and is typed
by shape alone (the protocols here are never imported by it).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol


class Tokenizer(Protocol):
    """What `load` gets: plain values and files, nothing to decode."""

    #: Bytes of every token by id; None for a special or an unused id.
    token_bytes: Sequence[bytes | None]
    #: Number of ids that a mask covers, padding included.
    vocab_size: int
    eos_id: int
    special_ids: Sequence[int]
    #: `byte_level`, `sentencepiece` or `tiktoken`.
    kind: str
    #: Path of a `tokenizer.json`.
    tokenizer_json: str


class Matcher(Protocol):
    """The state of one text under one grammar."""

    def mask(self) -> bytes | bytearray | memoryview:
        """Return the allowed tokens: bit i of little-endian 32-bit words is token i.

        At least `vocab_size` bits; computed anew for the present state.
        """

    def commit(self, token: int) -> bool:
        """Take a token; False means that it is refused, an exception is a failure."""

    def may_end(self) -> bool:
        """Return whether the text so far is complete: the end token is allowed."""


class FullMatcher(Matcher, Protocol):
    """A matcher with all that one may offer beside; each method is optional."""

    def forced(self) -> Sequence[int] | None:
        """Return the tokens that are the only way on; None if it does not know."""

    def error(self) -> str:
        """Return how the engine has failed without raising, empty if it has not.

        Asked after every mask and every commit. A token that is refused because the
        schema does not allow it is no failure; a limit that was reached is one.
        """

    def takes(self, token: int) -> bool:
        """Commit a token if it is allowed; return whether it was.

        The same as `commit`, for tokens outside the mask, which are tried in every
        blocked text; worth having if a refusal by `commit` costs more than a mask.
        """

    def reason(self) -> str:
        """Return why the last commit was refused."""


class Engine(Protocol):
    """A constrained-decoding engine over one tokenizer."""

    def compile(self, schema: str) -> object:
        """Return a grammar. Any exception is a refusal, its message the reason."""

    def start(self, grammar: object) -> Matcher:
        """Return a matcher before its first token."""

    def warnings(self, grammar: object) -> Sequence[str]:
        """Return what the engine warns of; printed lines are caught beside it."""


class FullEngine(Engine, Protocol):
    """An engine with all that one may offer beside; each member is optional."""

    #: Whether `mask` of different matchers, of one grammar or several, may be called
    #: in different threads at a time. That helps where it lets go of Python's lock.
    masks_side_by_side: bool

    def kernel(
        self, mask: bytes | bytearray | memoryview
    ) -> Callable[[], object] | None:
        """Return the engine's kernel, which applies a mask to one text's logits.

        Everything but that is done before it returns: logits of the engine's own, and
        the mask where its kernel wants it. None where its libraries are not here.
        """


class Load(Protocol):
    """The one function of an engine's file.

    Example:
        An engine that allows every token (docs/engines.md has a whole file):

        >>> def load(tokenizer, options):
        ...     return AllowAll((tokenizer.vocab_size + 31) // 32 * 4)
    """

    def __call__(self, tokenizer: Tokenizer, options: Mapping[str, object]) -> Engine:
        """Return the engine; an exception means that it cannot be used here."""
