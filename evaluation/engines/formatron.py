"""Formatron: JSON Schema to a grammar of KBNF, whose Earley parser computes masks.

By its documents it accepts an object or an array at the root, with
`$id` and the `$schema` of 2020-12, members in the order of `properties` and no others.
Every schema is given it as one of that draft, with an `$id` where it has none. It ends
a text as soon as that is complete.
"""

from __future__ import annotations

import copy
import ctypes
import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.core.engine_protocol import Tokenizer

ABOUT = {
    "distribution": "formatron",
    "summary": "JSON Schema to a KBNF grammar, masks by KBNF's Earley parser",
    "licence": "MIT",
    "homepage": "https://github.com/Dan-wanna-M/formatron",
    # It finds `typing` in pydantic, which from 2.12 on is another module there.
    "install": "formatron>=0.5.0 pydantic<2.12",
    "refusals": [
        {"pattern": "allowed when 'anyOf' is present", "keywords": ["anyOf"]},
        {"pattern": "contains unescaped anchors", "keywords": ["pattern"]},
        {"pattern": "pattern is mutually exclusive", "keywords": ["pattern"]},
        {"pattern": "metadata .*'(ge|gt)'", "keywords": ["minimum"]},
        {"pattern": "metadata .*'(le|lt)'", "keywords": ["maximum"]},
    ],
}
OPTIONS = {
    # Whether inexact translations are rejected; null for its default: they are.
    "strict": "bool|null"
}
PRESETS: dict[str, dict[str, object]] = {
    "faithful": {"strict": True},
    "vendor": {"strict": None},
    # Not among the engines of the paper: its defaults.
    "paper": {"strict": None},
}
#: Message for a token missing from the grammar or its vocabulary.
_REFUSALS = ("is rejected", "does not exist", "is finished")
_NEWEST = "https://json-schema.org/draft/2020-12/schema"
_ID = "https://example.com/schema.json"


class Engine:
    """Formatron's builder over one vocabulary of KBNF."""

    def __init__(self, tokenizer: Tokenizer, options: Mapping[str, Any]) -> None:
        """Build the vocabulary."""
        import kbnf
        from formatron.formats import json as json_format
        from formatron.formatter import FormatterBuilder
        from formatron.schemas import json_schema

        self.version = f"{version('formatron')}+kbnf.{version('kbnf')}"
        if options["strict"] is not None:
            json_format.strict_schema = options["strict"]
        self._read = json_schema.create_schema
        self._builder = FormatterBuilder
        self.eos_id = tokenizer.eos_id
        self.words = (tokenizer.vocab_size + 31) // 32
        contents = {
            index: content
            for index, content in enumerate(tokenizer.token_bytes)
            if content and index != tokenizer.eos_id
        }
        self._vocabulary = kbnf.Vocabulary(
            {index: kbnf.Token(content) for index, content in contents.items()},
            {index: content.decode("latin-1") for index, content in contents.items()},
        )

    def compile(self, schema: str) -> object:
        """Return KBNF's engine for a schema, before its first token."""
        parsed = json.loads(schema)
        if not isinstance(parsed, dict):
            raise TypeError("only a schema that is an object is understood")
        builder = self._builder()
        extractor = builder.json(self._read({"$id": _ID, **parsed, "$schema": _NEWEST}))
        builder.append_str(f"{extractor}")
        # Its decoder only serves extraction from texts.
        return builder.build(self._vocabulary, str)._engine  # noqa: SLF001 - as in its own integrations

    def start(self, grammar: object) -> Matcher:
        """Return a copy of the engine."""
        return Matcher(self, copy.copy(grammar))


class Matcher:
    """One text under one grammar."""

    def __init__(self, engine: Engine, state: Any) -> None:  # noqa: ANN401 - its type is the engine's own
        """Begin a text."""
        self._engine = engine
        self._state = state
        self.may_end = state.is_finished

    def mask(self) -> memoryview:
        """Return the allowed tokens; only the end where the text is complete."""
        bits = (ctypes.c_uint32 * self._engine.words)()
        if self.may_end():
            bits[self._engine.eos_id // 32] |= 1 << self._engine.eos_id % 32
        else:
            self._state.compute_allowed_token_ids()
            self._state.fill_torch_bitmask(ctypes.addressof(bits))
        return memoryview(bits).cast("B")

    def commit(self, token: int) -> bool:
        """Accept a token; a rejection is an exception."""
        try:
            self._state.try_accept_new_token(token)
        except ValueError as error:
            if any(word in str(error) for word in _REFUSALS):
                return False
            raise
        return True


def load(tokenizer: Tokenizer, options: Mapping[str, object]) -> Engine:
    """Return the engine over a tokenizer."""
    return Engine(tokenizer, options)
