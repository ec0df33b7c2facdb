"""outlines-core: the schema becomes one regular expression, then an index of tokens.

0.2 builds the index in Rust over bytes. 0.1.26 (the paper's time) uses interegular's
automaton in Python, over text in which tokens that are not text are spelled byte by
byte.
"""

from __future__ import annotations

import ctypes
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.core.engine_protocol import Matcher, Tokenizer

ABOUT = {
    "distribution": "outlines-core",
    "summary": "regular expression to an index of tokens",
    "licence": "Apache-2.0",
    "homepage": "https://github.com/dottxt-ai/outlines-core",
    "install": "outlines-core>=0.2.14",
    "extra": "engines",
}
OPTIONS = {
    # Regular expression of the white space between tokens of JSON; null for its own.
    "whitespace": "str|null",
    # How often a `$ref` may lead back to itself; null for its own (0.1 has none).
    "max_recursion_depth": "int|null",
}
PRESETS = {
    "faithful": {"whitespace": "[ \\t\\n\\r]*", "max_recursion_depth": None},
    "vendor": {"whitespace": None, "max_recursion_depth": None},
    "paper": {"whitespace": None, "max_recursion_depth": None},
}
#: Message for a token without a transition; other exceptions are failures.
_REFUSAL = "No next state found"


class Engine:
    """Version 0.2: everything in Rust."""

    def __init__(self, tokenizer: Tokenizer, options: Mapping[str, Any]) -> None:
        """Build the vocabulary."""
        import outlines_core
        from outlines_core import json_schema

        self.version = version("outlines-core")
        self.vocab_size = tokenizer.vocab_size
        self.eos_id = tokenizer.eos_id
        self._core = outlines_core
        self._to_regex = json_schema.build_regex_from_schema
        self._arguments = _read_arguments(options)
        self._vocabulary = outlines_core.Vocabulary(
            tokenizer.eos_id,
            ids_by(dict(enumerate(tokenizer.token_bytes)), self.eos_id),
        )

    def compile(self, schema: str) -> object:
        """Return the index of a schema's regular expression."""
        regex = self._to_regex(schema, **self._arguments)
        return self._core.Index(regex, self._vocabulary)

    def start(self, grammar: object) -> Matcher:
        """Return a guide at the beginning."""
        return Guide(self, self._core.Guide(grammar))


class Guide:
    """One text under one index of version 0.2."""

    def __init__(self, engine: Engine, guide: Any) -> None:  # noqa: ANN401 - its type is the engine's own
        """Begin a text."""
        self._engine = engine
        self._guide = guide
        self._words = (engine.vocab_size + 31) // 32
        self._bits = (ctypes.c_uint32 * self._words)()

    def mask(self) -> memoryview:
        """Return the allowed tokens; the end token is among them where it may end."""
        self._guide.write_mask_into(ctypes.addressof(self._bits), self._words, 4)
        return memoryview(self._bits).cast("B")

    def commit(self, token: int) -> bool:
        """Take a token, if there is a transition for it."""
        try:
            self._guide.advance(token, return_tokens=False)
        except ValueError as error:
            if str(error).startswith(_REFUSAL):
                return False
            raise
        return True

    def may_end(self) -> bool:
        """Return whether the mask allows the end token."""
        eos = self._engine.eos_id
        return bool(self.mask()[eos // 8] >> eos % 8 & 1)


class OldEngine:
    """Version 0.1: expression in Rust, automaton in Python, index in Rust."""

    def __init__(self, tokenizer: Tokenizer, options: Mapping[str, Any]) -> None:
        """Build the vocabulary.

        Raises:
            ValueError: a recursion depth is asked for, which this version has not.
        """
        import interegular
        from outlines_core.fsm import json_schema, regex

        self.version = version("outlines-core")
        if options["max_recursion_depth"] is not None:
            raise ValueError(
                f"outlines-core {self.version} has no option max_recursion_depth"
            )
        self.vocab_size = tokenizer.vocab_size
        self.eos_id = tokenizer.eos_id
        self._parse = interegular.parse_pattern
        self._regex = regex
        self._to_regex = json_schema.build_regex_from_schema
        self._arguments = _read_arguments(options)
        texts = {
            index: _spell(content, regex.byte_symbol)
            for index, content in enumerate(tokenizer.token_bytes)
            if content
        }
        self._vocabulary = regex.Vocabulary.from_dict(ids_by(texts, self.eos_id))

    def compile(self, schema: str) -> object:
        """Return the index of a schema's regular expression."""
        pattern = self._parse(self._to_regex(schema, **self._arguments))
        reduced: Any = pattern.to_fsm()
        fsm = self._regex.make_byte_level_fsm(reduced.reduce(), keep_utf8=True)
        automaton, _ = self._regex.make_deterministic_fsm(fsm)
        return self._regex.Index(
            automaton.fsm_info, self._vocabulary, self.eos_id, frozenset()
        )

    def start(self, grammar: object) -> Matcher:
        """Return a walk at the initial state."""
        return OldGuide(self, grammar)


class OldGuide:
    """One text under one index of version 0.1."""

    def __init__(self, engine: OldEngine, index: Any) -> None:  # noqa: ANN401 - its type is the engine's own
        """Begin a text."""
        self._engine = engine
        self._index = index
        self._state: int | None = index.get_initial_state()

    def mask(self) -> bytearray:
        """Return the allowed tokens; only the end without a transition."""
        bits = bytearray((self._engine.vocab_size + 31) // 32 * 4)
        allowed = None
        if self._state is not None:
            allowed = self._index.get_allowed_tokens(self._state)
        for token in [self._engine.eos_id] if allowed is None else allowed:
            bits[token >> 3] |= 1 << (token & 7)
        return bits

    def commit(self, token: int) -> bool:
        """Take a token, if there is a transition for it."""
        if self._state is None:
            return False
        following = self._index.get_next_state(self._state, token)
        if following is None and token != self._engine.eos_id:
            return False
        self._state = following
        return True

    def may_end(self) -> bool:
        """Return whether the state is final."""
        return self._state is None or self._index.is_final_state(self._state)


def ids_by(texts: Mapping[int, Any], eos_id: int) -> dict[Any, list[int]]:
    """Return the ids of every text; the end token is separate."""
    ids: dict[Any, list[int]] = {}
    for index, text in texts.items():
        if text and index != eos_id:
            ids.setdefault(text, []).append(index)
    return ids


def _read_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not left to the engine."""
    arguments = {
        "whitespace_pattern": options["whitespace"],
        "max_recursion_depth": options["max_recursion_depth"],
    }
    return {name: value for name, value in arguments.items() if value is not None}


def _spell(content: bytes, symbol: Any) -> str:  # noqa: ANN401 - a function of the engine
    """Return a token as 0.1 spells it: text, or one symbol a byte."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return "".join(symbol(byte) for byte in content)


def load(tokenizer: Tokenizer, options: Mapping[str, object]) -> Engine | OldEngine:
    """Return the engine over a tokenizer."""
    old = version("outlines-core").startswith("0.1.")
    return OldEngine(tokenizer, options) if old else Engine(tokenizer, options)
