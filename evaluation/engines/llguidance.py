"""llguidance: an Earley parser over a lexer of regular-expression derivatives.

Compiling is the making of an `LLMatcher`: a grammar's errors show only there. Every
text starts from a deep copy of it, so no text profits from what another has cached.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ABOUT = {
    "distribution": "llguidance",
    "summary": "Rust library of the guidance project: derivatives and Earley parsing",
    "licence": "MIT",
    "install": "llguidance>=1.9",
}
OPTIONS = {
    "whitespace_flexible": "bool|null",
    "whitespace_pattern": "str|null",
    "item_separator": "str|null",
    "key_separator": "str|null",
    "coerce_one_of": "bool|null",
    "lenient": "bool|null",
    # `general` is what the library does by itself, `json` what it has for JSON.
    "slices": "str",
    "initial_lexer_fuel": "int|null",
    "step_lexer_fuel": "int|null",
    "step_max_items": "int|null",
}
PRESETS: dict[str, dict[str, object]] = {
    "faithful": {
        "whitespace_flexible": True,
        "coerce_one_of": False,
        "lenient": False,
        "slices": "general",
    },
    "vendor": {"slices": "general"},
    # As guidance.json of guidance 0.2.0rc called it, which the paper's harness used.
    "paper": {
        "whitespace_flexible": False,
        "item_separator": ", ",
        "key_separator": ": ",
        "coerce_one_of": False,
        "lenient": False,
        "slices": "general",
    },
}
_LIMITS = ("initial_lexer_fuel", "step_lexer_fuel", "step_max_items")


class _Matcher:
    """One text under one grammar."""

    def __init__(self, matcher: Any, size: int) -> None:  # noqa: ANN401 (the engine's)
        self._matcher = matcher
        self._size = size
        self._mask = bytearray(size)
        self._place = ctypes.addressof(ctypes.c_char.from_buffer(self._mask))
        self.commit = matcher.consume_token
        self.may_end = matcher.is_accepting
        self.forced = matcher.compute_ff_tokens

    def mask(self) -> bytearray:
        """Return the allowed tokens."""
        self._matcher.unsafe_compute_mask_ptr(self._place, self._size)
        return self._mask


class _Engine:
    """llguidance over one tokenizer."""

    def __init__(self, tokenizer: Any, options: Mapping[str, object]) -> None:  # noqa: ANN401 (typed by shape)
        import llguidance

        self.version = str(llguidance.__version__)
        self._library = llguidance
        slices = getattr(llguidance.LLTokenizer, f"{options['slices']}_slices")()
        self._tokens = llguidance.LLTokenizer(
            tokenizer.tokenizer_json,
            n_vocab=tokenizer.vocab_size,
            eos_token=tokenizer.eos_id,
            slices=slices,
        )
        self._mask_bytes = (tokenizer.vocab_size + 31) // 32 * 4
        limits = {each: options.get(each) for each in _LIMITS}
        self._limits = llguidance.LLParserLimits(
            **{name: value for name, value in limits.items() if value is not None}
        )
        self._json = {
            name: value
            for name, value in options.items()
            if value is not None and name not in (*_LIMITS, "slices")
        }

    def compile(self, schema: str) -> object:
        """Return a matcher before its first token."""
        grammar = self._library.LLMatcher.grammar_from_json_schema(
            schema, overrides=self._json
        )
        matcher = self._library.LLMatcher(
            self._tokens, grammar, log_level=0, limits=self._limits
        )
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    def start(self, grammar: Any) -> _Matcher:  # noqa: ANN401 (the engine's)
        """Return a copy of the matcher."""
        return _Matcher(grammar.deep_copy(), self._mask_bytes)

    def warnings(self, grammar: Any) -> Sequence[str]:  # noqa: ANN401 (the engine's)
        """Return what the compiler warns of."""
        return list(grammar.get_grammar_warnings())


def load(tokenizer: Any, options: Mapping[str, object]) -> _Engine:  # noqa: ANN401 (typed by shape)
    """Return the engine."""
    return _Engine(tokenizer, options)
