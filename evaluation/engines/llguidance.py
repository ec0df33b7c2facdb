"""llguidance: an Earley parser over a lexer of regular-expression derivatives.

Compiling makes an `LLMatcher`, which never raises: errors must be asked for after every
step. Every text starts from a deep copy of it; copies share the lexer's states, so a
later text reuses an earlier one's. The lexer of all is dead once a text reached a
limit, so the text after it starts from a new matcher: a server makes one for each text,
as `matcher=fresh` does. Versions before 0.6 have another interface and fewer options.
"""

from __future__ import annotations

import ctypes
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.core.engine_protocol import Tokenizer

ABOUT = {
    "distribution": "llguidance",
    "summary": "Rust library of the guidance project: derivatives and Earley parsing",
    "licence": "MIT",
    "homepage": "https://github.com/guidance-ai/llguidance",
    "install": "llguidance>=1.9",
    "extra": "eval",
    "forced_in_paper": True,
}
OPTIONS = {
    "whitespace_flexible": "bool|null",
    "whitespace_pattern": "str|null",
    "item_separator": "str|null",
    "key_separator": "str|null",
    "coerce_one_of": "bool|null",
    "lenient": "bool|null",
    # `general` or `json`: strings whose masks are prepared; null for its own.
    "slices": "str|null",
    "initial_lexer_fuel": "int|null",
    "step_lexer_fuel": "int|null",
    "step_max_items": "int|null",
    "max_items_in_row": "int|null",
    "max_lexer_states": "int|null",
    "max_grammar_size": "int|null",
    # For each text a `copy` of the compiled matcher, or a `fresh` one.
    "matcher": "str|null",
}
PRESETS: dict[str, dict[str, object]] = {
    "faithful": {"whitespace_flexible": True, "coerce_one_of": False, "lenient": False},
    "vendor": {},
    # As guidance.json of guidance 0.2.0rc called it, which the paper's harness used.
    "paper": {
        "whitespace_flexible": False,
        "item_separator": ", ",
        "key_separator": ": ",
        "coerce_one_of": False,
        "lenient": False,
    },
}
#: What versions from 0.6 on do by themselves; it is not passed to them.
_OWN = PRESETS["faithful"]
#: Reasons to stop that mean a complete text.
_COMPLETE = ("NoExtension", "NoExtensionBias", "EndOfSentence")
#: Part of its message for a token missing from the grammar, which is not a failure.
_REFUSAL = "doesn't satisfy the grammar"
_LIMITS = (
    "initial_lexer_fuel",
    "step_lexer_fuel",
    "step_max_items",
    "max_items_in_row",
    "max_lexer_states",
    "max_grammar_size",
)


class _Grammar:
    """A compiled matcher of which texts take copies."""

    def __init__(self, text: str, matcher: Any) -> None:  # noqa: ANN401 (the engine's)
        self.text = text
        self.matcher = matcher
        #: Whether a text has begun with it, and whether one has reached a limit.
        self.used = False
        self.dead = False


class _Matcher:
    """One text under one grammar."""

    def __init__(self, grammar: _Grammar, matcher: Any, size: int) -> None:  # noqa: ANN401 (the engine's)
        self._grammar = grammar
        self._matcher = matcher
        self._size = size
        self._mask = bytearray(size)
        self._place = ctypes.addressof(ctypes.c_char.from_buffer(self._mask))
        self.commit = matcher.consume_token
        self.may_end = matcher.is_accepting
        self.forced = matcher.compute_ff_tokens
        self._has_failed = matcher.is_error
        self.reason = matcher.get_error
        # A refusal by `consume_token` writes its whole state down: 250 microseconds.
        if hasattr(matcher, "try_consume_tokens"):
            self.takes = lambda token: matcher.try_consume_tokens([token]) == 1

    def mask(self) -> bytearray:
        """Return the allowed tokens."""
        self._matcher.unsafe_compute_mask_ptr(self._place, self._size)
        return self._mask

    def error(self) -> str:
        """Return how it has failed; a token that the grammar lacks is not a failure."""
        if not self._has_failed():
            return ""
        message: str = self._matcher.get_error()
        if _REFUSAL in message.partition("\n")[0]:
            return ""
        self._grammar.dead = True
        return message


class _Engine:
    """llguidance over one tokenizer."""

    def __init__(self, tokenizer: Tokenizer, options: Mapping[str, object]) -> None:
        import llguidance

        self.version = version("llguidance")
        self._library = llguidance
        slices = options.get("slices")
        slicing: dict[str, Any] = (
            {}
            if slices is None
            else {"slices": getattr(llguidance.LLTokenizer, f"{slices}_slices")()}
        )
        matcher = options.get("matcher") or "copy"
        if matcher not in {"copy", "fresh"}:
            raise ValueError(f"matcher is copy or fresh, not {matcher}")
        self._fresh = matcher == "fresh"
        self._tokens = llguidance.LLTokenizer(
            tokenizer.tokenizer_json,
            n_vocab=tokenizer.vocab_size,
            eos_token=tokenizer.eos_id,
            **slicing,
        )
        self._mask_bytes = (tokenizer.vocab_size + 31) // 32 * 4
        lexer_limits = {
            name: value
            for name, value in options.items()
            if value is not None
            and name not in {"slices", "matcher"}
            and value != _OWN.get(name)
        }
        limits: Any = {
            name: lexer_limits.pop(name) for name in _LIMITS if name in lexer_limits
        }
        #: Extra arguments with a grammar and with a schema; empty by default.
        self._limits: dict[str, Any] = (
            {"limits": llguidance.LLParserLimits(**limits)} if limits else {}
        )
        self._overrides: dict[str, Any] = (
            {"overrides": lexer_limits} if lexer_limits else {}
        )

    def compile(self, schema: str) -> object:
        """Return a matcher before its first token."""
        # With any option it rejects a schema that is not an object; `{}` is equal.
        root = "{}" if self._overrides and schema.strip() == "true" else schema
        grammar = self._library.LLMatcher.grammar_from_json_schema(
            root, **self._overrides
        )
        return self.compile_grammar(grammar)

    def compile_grammar(self, grammar: str) -> _Grammar:
        """Return a matcher of a grammar in llguidance's notation."""
        matcher = self._make(grammar)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return _Grammar(grammar, matcher)

    def _make(self, grammar: str) -> Any:  # noqa: ANN401 (the engine's)
        return self._library.LLMatcher(
            self._tokens, grammar, log_level=0, **self._limits
        )

    def start(self, grammar: _Grammar) -> _Matcher:
        """Return a copy of the matcher, or a fresh one."""
        if grammar.dead or (self._fresh and grammar.used):
            grammar.matcher, grammar.dead = self._make(grammar.text), False
        grammar.used = True
        return _Matcher(grammar, grammar.matcher.deep_copy(), self._mask_bytes)

    def warnings(self, grammar: _Grammar) -> Sequence[str]:
        """Return the compiler's warnings."""
        return list(grammar.matcher.get_grammar_warnings())


class _OldMatcher:
    """One text under one grammar, in versions before 0.6."""

    def __init__(self, interpreter: Any, engine: _OldEngine) -> None:  # noqa: ANN401 (the engine's)
        self._interpreter = interpreter
        self._engine = engine
        self._bits: bytes | None = None

    def mask(self) -> bytes:
        """Return the allowed tokens; only the end where nothing can follow.

        Raises:
            RuntimeError: it has stopped for another reason than being complete.
        """
        if self._bits is None:
            bits = None
            if not self._stopped():
                bits, _ = self._interpreter.compute_mask()
            if bits is None and self._stopped() not in _COMPLETE:
                raise RuntimeError(f"stopped: {self._stopped()}")
            self._bits = self._engine.bits(bits)
        return self._bits

    def commit(self, token: int) -> bool:
        """Accept a token; raises for other reasons, such as a limit."""
        if self._stopped():
            return False
        try:
            self._interpreter.commit_token(token)
        except Exception as error:
            if _REFUSAL in str(error):
                return False
            raise
        self._bits = None
        return True

    def _stopped(self) -> str:
        """Return why it has stopped; empty if it has not."""
        reason = str(self._interpreter.stop_reason())
        return "" if reason == "NotStopped" else reason

    def may_end(self) -> bool:
        """Return whether the mask allows the end token."""
        end = self._engine.eos_id
        return bool(self.mask()[end // 8] >> end % 8 & 1)


class _OldEngine:
    """Versions before 0.6, which have no `LLMatcher`, no limits and no slices."""

    def __init__(self, tokenizer: Tokenizer, options: Mapping[str, Any]) -> None:
        import llguidance
        import numpy

        self.version = version("llguidance")
        unknown = {"lenient", "matcher", "whitespace_pattern", *_LIMITS}
        unsupported = sorted(name for name in unknown if options.get(name))
        if unsupported:
            raise ValueError(
                f"llguidance {self.version} has no option {unsupported[0]}"
            )
        self.eos_id = tokenizer.eos_id
        self._size = (tokenizer.vocab_size + 31) // 32 * 4
        self._numpy = numpy
        self._library = llguidance
        self._tokens = llguidance.LLTokenizer(
            llguidance.TokenizerWrapper(_Spelling(tokenizer))
        )
        self._compiler = llguidance.JsonCompiler(**_old_arguments(options))

    def compile(self, schema: str) -> object:
        """Return an interpreter before its first token."""
        return self._library.LLInterpreter(
            self._tokens,
            self._compiler.compile(schema),
            enable_backtrack=False,
            enable_ff_tokens=False,
            log_level=0,
        )

    def start(self, grammar: Any) -> _OldMatcher:  # noqa: ANN401 (the engine's)
        """Return a copy of the interpreter."""
        return _OldMatcher(grammar.deep_copy(), self)

    def bits(self, mask: bytes | None) -> bytes:
        """Return a mask of one byte a token as one of one bit a token."""
        numpy = self._numpy
        if mask is None:
            flags = numpy.zeros(self.eos_id + 1, dtype=numpy.uint8)
            flags[self.eos_id] = 1
        else:
            flags = numpy.frombuffer(mask, dtype=numpy.uint8)
        packed: bytes = numpy.packbits(flags, bitorder="little").tobytes()
        return packed.ljust(self._size, b"\0")


class _Spelling:
    """A tokenizer as versions before 0.6 want it.

    Specials begin with a byte of 255. Every single byte has to be a token, or masks
    panic: missing ones get ids after the vocabulary's end, beyond every mask.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.eos_token_id = tokenizer.eos_id
        self.bos_token_id = None
        missing = tokenizer.vocab_size - len(tokenizer.token_bytes)
        contents = [*tokenizer.token_bytes, *[None] * missing]
        self.tokens = [
            b"\xff<%d>" % index if content is None else content
            for index, content in enumerate(contents)
        ]
        bytewise = {bytes([byte]) for byte in range(256)}
        self.tokens += sorted(bytewise - set(self.tokens))
        self._ids = {
            content: index for index, content in enumerate(self.tokens) if content
        }
        self._longest = max(map(len, self._ids))

    def __call__(self, text: bytes) -> list[int]:
        """Cut a text into the longest tokens that fit."""
        tokens = []
        while text:
            sizes = range(min(len(text), self._longest), 0, -1)
            size = next(n for n in sizes if text[:n] in self._ids)
            tokens.append(self._ids[text[:size]])
            text = text[size:]
        return tokens


def _old_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options under the names of versions before 0.6."""
    pair = (options.get("item_separator"), options.get("key_separator"))
    arguments = {
        "whitespace_flexible": options.get("whitespace_flexible"),
        "coerce_one_of": options.get("coerce_one_of"),
        "separators": None if None in pair else pair,
    }
    return {name: value for name, value in arguments.items() if value is not None}


def load(tokenizer: Tokenizer, options: Mapping[str, object]) -> _Engine | _OldEngine:
    """Return the engine."""
    import llguidance

    new = hasattr(llguidance, "LLMatcher")
    return _Engine(tokenizer, options) if new else _OldEngine(tokenizer, options)
