"""lm-format-enforcer: a character-level parser, explored along a tree of tokens.

Before the first mask only the tree is computed. Its integrations need transformers;
here its tokenizer data are built from bytes. A parser that fails inside logs that and
then allows only the end, as for a complete text; the log distinguishes the two.
"""

from __future__ import annotations

import json
import logging
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.core.engine_protocol import Tokenizer

ABOUT = {
    "distribution": "lm-format-enforcer",
    "summary": "character-level parser over a tree of tokens",
    "licence": "MIT",
    "homepage": "https://github.com/noamgat/lm-format-enforcer",
    "install": "lm-format-enforcer>=0.11.3",
    "extra": "engines",
}
OPTIONS = {
    # The most white space in one place.
    "max_whitespace": "int|null",
    # Members only in the order of `required`.
    "force_order": "bool|null",
    # Maximum items of an array whose schema has no limit.
    "max_array_length": "int|null",
}
PRESETS = {
    "faithful": {
        "max_whitespace": 1_000_000,
        "force_order": False,
        "max_array_length": 1_000_000,
    },
    # Null: the library's default.
    "vendor": {"max_whitespace": None, "force_order": None, "max_array_length": None},
    # Not among the engines of the paper: its defaults.
    "paper": {"max_whitespace": None, "force_order": None, "max_array_length": None},
}
#: How the library's record of a parser that failed begins.
_FAILURE = "Unknown LMFormatEnforcer Problem"


class Engine:
    """A tree of tokens, and how a schema's parser is set up."""

    def __init__(self, tokenizer: Tokenizer, options: Mapping[str, Any]) -> None:
        """Build the tree of tokens."""
        import lmformatenforcer
        from lmformatenforcer.characterlevelparser import CharacterLevelParserConfig

        self.version = version("lm-format-enforcer")
        self.vocab_size = tokenizer.vocab_size
        self.eos_id = tokenizer.eos_id
        self._contents = tokenizer.token_bytes
        self._enforcer = lmformatenforcer.TokenEnforcer
        self._parser = lmformatenforcer.JsonSchemaParser
        self._configuration = CharacterLevelParserConfig
        self._options = options
        #: What the parser raised at last.
        self.failure = ""
        logging.getLogger().addFilter(self._note_failure)
        self._data = lmformatenforcer.TokenEnforcerTokenizerData(
            _regular(tokenizer),
            self._text,
            self.eos_id,
            use_bitmask=False,
            vocab_size=self.vocab_size,
        )

    def compile(self, schema: str) -> object:
        """Return what makes a parser of a schema, tried once."""
        parsed = json.loads(schema)
        if not isinstance(parsed, dict):
            raise TypeError("only a schema that is an object is understood")
        self._new_enforcer(parsed)
        return parsed

    def start(self, grammar: object) -> Matcher:
        """Return a matcher at the beginning."""
        return Matcher(self, self._new_enforcer(grammar))

    def _note_failure(self, record: logging.LogRecord) -> bool:
        """Keep a parser's exception; every record is still logged."""
        if record.exc_info and record.getMessage().startswith(_FAILURE):
            kind, error, _ = record.exc_info
            self.failure = f"{kind.__name__ if kind else _FAILURE}: {error}"
        return True

    def _new_enforcer(self, schema: Any) -> Any:  # noqa: ANN401 - types of the engine
        parser = self._parser(schema)
        enforcer = self._enforcer(self._data, parser)
        # The enforcer sets a separate configuration, whose alphabet is the tree's.
        arguments = {
            "max_consecutive_whitespaces": self._options["max_whitespace"],
            "force_json_field_order": self._options["force_order"],
            "max_json_array_length": self._options["max_array_length"],
        }
        parser.config = self._configuration(
            alphabet=self._data.tokenizer_alphabet,
            **{name: value for name, value in arguments.items() if value is not None},
        )
        return enforcer

    def _text(self, tokens: Sequence[int]) -> str:
        content = b"".join(self._contents[token] or b"" for token in tokens)
        return content.decode(errors="replace")


class Matcher:
    """One text under one parser."""

    def __init__(self, engine: Engine, enforcer: Any) -> None:  # noqa: ANN401 - its type is the engine's own
        """Begin a text."""
        self._engine = engine
        self._enforcer = enforcer
        self._tokens: list[int] = []
        self._bits: bytearray | None = None
        self._failure = ""

    def error(self) -> str:
        """Return what its parser raised; empty if nothing."""
        return self._failure

    def mask(self) -> bytearray:
        """Return the allowed tokens; the end token is among them where it may end."""
        self._engine.failure = ""
        allowed = self._enforcer.get_allowed_tokens(self._tokens)
        self._failure = self._failure or self._engine.failure
        tokens = getattr(allowed, "allowed_tokens", allowed)
        bits = bytearray((self._engine.vocab_size + 31) // 32 * 4)
        for token in tokens:
            bits[token >> 3] |= 1 << (token & 7)
        self._bits = bits
        return bits

    def commit(self, token: int) -> bool:
        """Accept a token that the last mask allows: the enforcer does not check."""
        bits = self.mask() if self._bits is None else self._bits
        if not bits[token >> 3] >> (token & 7) & 1:
            return False
        self._tokens.append(token)
        self._bits = None
        return True

    def may_end(self) -> bool:
        """Return whether the mask allows the end token."""
        eos = self._engine.eos_id
        return bool(self.mask()[eos >> 3] >> (eos & 7) & 1)


def _regular(tokenizer: Tokenizer) -> list[tuple[int, str, bool]]:
    """Return id, text, and whether it is text on its own, of every plain token.

    A token that is only part of a character is text together with its neighbours.
    """
    tokens = []
    for index, content in enumerate(tokenizer.token_bytes):
        if content and index != tokenizer.eos_id:
            text = content.decode(errors="replace")
            tokens.append((index, text, text.encode() == content))
    return tokens


def load(tokenizer: Tokenizer, options: Mapping[str, object]) -> Engine:
    """Return the engine over a tokenizer."""
    return Engine(tokenizer, options)
