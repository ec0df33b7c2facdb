"""guidance: llguidance's masks, with the options that `guidance.json` passes.

Its users get `oneOf` read as `anyOf`, which llguidance by itself refuses to do, and
the version of llguidance that guidance pins. The file of that engine, next to this
one, computes the masks.
"""

from __future__ import annotations

import runpy
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.core.engine_protocol import Matcher, Tokenizer

ABOUT = {
    "distribution": "guidance",
    "summary": "llguidance as guidance.json sets it up: oneOf read as anyOf",
    "licence": "MIT",
    "homepage": "https://github.com/guidance-ai/guidance",
    "install": "guidance>=0.3.1",
    "beside": ["llguidance.py"],
    "refusals": [
        {"pattern": r"Unimplemented keys: \[(?P<keys>[^\]]*)\]"},
    ],
}
OPTIONS = {
    "whitespace_flexible": "bool|null",
    "whitespace_pattern": "str|null",
    "lenient": "bool|null",
}
PRESETS: dict[str, dict[str, object]] = {
    "faithful": {"whitespace_flexible": True, "lenient": False},
    "vendor": {},
    # What it did in the paper: its defaults.
    "paper": {},
}


class Engine:
    """guidance's grammars, llguidance's masks."""

    def __init__(self, tokenizer: Tokenizer, options: Mapping[str, Any]) -> None:
        """Build llguidance's tables of the vocabulary."""
        import guidance

        self._json = guidance.json
        self._arguments = {
            name: value for name, value in options.items() if value is not None
        }
        beside = runpy.run_path(str(Path(__file__).with_name("llguidance.py")))
        self._masks = beside["load"](tokenizer, {})
        self.version = f"{version('guidance')}+llguidance.{version('llguidance')}"

    def compile(self, schema: str) -> object:
        """Return a matcher of guidance's grammar, before its first token."""
        root: Any = {"true": True, "false": False}.get(schema.strip(), schema)
        with warnings.catch_warnings():
            # The matcher has the same warnings.
            warnings.simplefilter("ignore")
            node = self._json(schema=root, **self._arguments)
        return self._masks.compile_grammar(node.ll_grammar())

    def start(self, grammar: object) -> Matcher:
        """Return a copy of the matcher."""
        matcher: Matcher = self._masks.start(grammar)
        return matcher

    def warnings(self, grammar: object) -> Sequence[str]:
        """Return what llguidance warns of."""
        messages: Sequence[str] = self._masks.warnings(grammar)
        return messages


def load(tokenizer: Tokenizer, options: Mapping[str, object]) -> Engine:
    """Return the engine over a tokenizer."""
    return Engine(tokenizer, options)
