"""XGrammar: a pushdown automaton whose token masks are computed at compilation.

Only raw constructors are used: the vocabulary goes in as bytes. Imports that they never
call (transformers, triton, in 0.1 sentencepiece and tiktoken) get empty stand-ins.
Version 0.1.8 has fewer options; a missing one may only have its neutral value.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
import types
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evaluation.core.engine_protocol import Tokenizer

ABOUT = {
    "distribution": "xgrammar",
    "summary": "pushdown automaton with masks computed at compilation",
    "licence": "Apache-2.0",
    "homepage": "https://github.com/mlc-ai/xgrammar",
    "install": "xgrammar",
    "extra": "xgrammar",
}
OPTIONS = {
    # White space wherever JSON allows it; otherwise one fixed form.
    "any_whitespace": "bool|null",
    # The most white space in one place; null for no limit.
    "max_whitespace": "int|null",
    # The two separators of the fixed form; null for its own.
    "item_separator": "str|null",
    "key_separator": "str|null",
    # Refuse members and items that the schema does not name.
    "strict_mode": "bool|null",
    # Members in any order, at the price of `required`, which is then not kept.
    "any_order": "bool|null",
    "max_threads": "int|null",
    "cache": "bool|null",
}
# Null: the argument is not passed, and the library's default applies.
PRESETS = {
    "faithful": {
        "any_whitespace": True,
        "max_whitespace": None,
        "item_separator": None,
        "key_separator": None,
        "strict_mode": False,
        "any_order": False,
        "max_threads": 1,
        "cache": False,
    },
    "vendor": {
        "any_whitespace": None,
        "max_whitespace": None,
        "item_separator": None,
        "key_separator": None,
        "strict_mode": None,
        "any_order": None,
        "max_threads": None,
        "cache": None,
    },
    "paper": {
        "any_whitespace": True,
        "max_whitespace": None,
        "item_separator": None,
        "key_separator": None,
        "strict_mode": False,
        "any_order": False,
        "max_threads": 8,
        "cache": True,
    },
}
_CLOCK = re.compile(r"\[\d\d:\d\d:\d\d\] ")
_STAND_INS = ("transformers", "triton", "triton.language", "sentencepiece", "tiktoken")


class Anything:
    """A stand-in for every name of an imported but unused package."""

    def __init__(self, *_: object, **__: object) -> None:
        """Take any arguments, as a decorator or as a constructor."""


class StandIn(types.ModuleType):
    """An empty module in which every name is found."""

    def __getattr__(self, name: str) -> type[Anything]:
        """Return a class for any name but those that Python itself looks for."""
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything


class Engine:
    """A grammar compiler over one vocabulary."""

    def __init__(self, tokenizer: Tokenizer, options: Mapping[str, Any]) -> None:
        """Build the vocabulary's tables; raises what xgrammar raises."""
        xgrammar = import_xgrammar()
        self.version = version("xgrammar")
        self._vocabulary = tokenizer.token_bytes
        self.vocab_size = tokenizer.vocab_size
        self.eos_id = tokenizer.eos_id
        self._matcher = xgrammar.GrammarMatcher
        self._read_grammar = xgrammar.Grammar.from_ebnf
        info = xgrammar.TokenizerInfo(
            [content or b"" for content in tokenizer.token_bytes],
            xgrammar.VocabType.RAW,
            vocab_size=tokenizer.vocab_size,
            stop_token_ids=[tokenizer.eos_id],
        )
        arguments = {
            "max_threads": options["max_threads"],
            "cache_enabled": options["cache"],
        }
        self._compiler = xgrammar.GrammarCompiler(info, **_without_none(arguments))
        self._settings = self._understood(options)

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of every token by its bytes; the last where several have the same."""
        return {
            content: index for index, content in enumerate(self._vocabulary) if content
        }

    @cached_property
    def longest(self) -> int:
        """The number of bytes of the longest token."""
        return max(map(len, self.ids), default=0)

    def compile(self, schema: str) -> object:
        """Return the compiled grammar of a schema."""
        with _no_clock():
            return self._compiler.compile_json_schema(schema, **self._settings)

    def compile_gbnf(self, grammar: str) -> object:
        """Return the compiled form of a grammar in llama.cpp's notation."""
        with _no_clock():
            return self._compiler.compile_grammar(self._read_grammar(grammar))

    def start(self, grammar: object) -> Matcher:
        """Return a matcher at the beginning."""
        return Matcher(self, self._matcher(grammar))

    def _understood(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of this version's compiler.

        Raises:
            ValueError: an option is asked for that this version does not have.
        """
        pair = (options["item_separator"], options["key_separator"])
        if (pair[0] is None) != (pair[1] is None):
            raise ValueError("item_separator and key_separator come together")
        arguments = {
            "any_whitespace": options["any_whitespace"],
            "strict_mode": options["strict_mode"],
            "separators": None if pair[0] is None else pair,
            "max_whitespace_cnt": options["max_whitespace"],
            "any_order": options["any_order"],
        }
        parameters = inspect.signature(self._compiler.compile_json_schema).parameters
        for name in [name for name in arguments if name not in parameters]:
            if arguments.pop(name):
                raise ValueError(f"xgrammar {self.version} has no option {name}")
        return _without_none(arguments)


def _without_none(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not left to the library."""
    return {name: value for name, value in arguments.items() if value is not None}


class Matcher:
    """One text under one grammar."""

    def __init__(self, engine: Engine, matcher: Any) -> None:  # noqa: ANN401 - its type is the engine's own
        """Begin a text."""
        import torch

        self._engine = engine
        self._matcher = matcher
        self._size = (engine.vocab_size + 31) // 32 * 4
        self._bits = bytearray(self._size)
        self._tensor = torch.frombuffer(self._bits, dtype=torch.int32).view(1, -1)
        #: Whether the bits are for the present state.
        self._present = False

    def mask(self) -> bytearray:
        """Return the allowed tokens; the stop token is among them where it may end."""
        needed = self._matcher.fill_next_token_bitmask(self._tensor)
        if needed is False:
            self._bits[:] = b"\xff" * self._size
        self._present = True
        return self._bits

    def commit(self, token: int) -> bool:
        """Take a token."""
        self._present = False
        return bool(self._matcher.accept_token(token))

    def may_end(self) -> bool:
        """Return whether the mask allows the stop token."""
        eos = self._engine.eos_id
        bits = self._bits if self._present else self.mask()
        return bool(bits[eos // 8] >> eos % 8 & 1)

    def forced(self) -> Sequence[int]:
        """Return the engine's jump-forward string, in the longest tokens that fit."""
        return parse_tokens(self._matcher.find_jump_forward_string(), self._engine)


@contextlib.contextmanager
def _no_clock() -> Iterator[None]:
    """Take the time of day out of a refusal, so that it is the same in every run."""
    try:
        yield
    except RuntimeError as error:
        raise RuntimeError(_CLOCK.sub("", str(error)).strip()) from None


def parse_tokens(text: str, engine: Engine) -> list[int]:
    """Cut a text into the longest tokens that fit, from the left."""
    content = text.encode()
    tokens = list[int]()
    start = 0
    while start < len(content):
        limit = min(len(content), start + engine.longest)
        ends = range(limit, start, -1)
        end = next((end for end in ends if content[start:end] in engine.ids), None)
        if end is None:
            break
        tokens.append(engine.ids[content[start:end]])
        start = end
    return tokens


def import_xgrammar() -> Any:  # noqa: ANN401 - a module
    """Import xgrammar, with stand-ins for unneeded packages."""
    # Torch looks for triton itself, and must not find it.
    import torch  # noqa: F401 (it must be loaded first)

    missing = [name for name in _STAND_INS if name not in sys.modules]
    for name in missing:
        sys.modules[name] = StandIn(name)
        parent, _, child = name.rpartition(".")
        if parent in missing:
            setattr(sys.modules[parent], child, sys.modules[name])
    try:
        import xgrammar
    finally:
        for name in missing:
            del sys.modules[name]
    return xgrammar


def load(tokenizer: Tokenizer, options: Mapping[str, object]) -> Engine:
    """Return the engine over a tokenizer."""
    return Engine(tokenizer, options)
