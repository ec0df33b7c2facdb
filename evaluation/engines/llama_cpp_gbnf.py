"""llama.cpp's conversion to GBNF, with masks by XGrammar, as the paper did.

The two share their grammar notation. The files of both engines next to this one do
the work.
"""

from __future__ import annotations

import runpy
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.core.engine_protocol import Matcher, Tokenizer

ABOUT = {
    "distribution": "llama-cpp-python",
    "summary": "JSON Schema to GBNF by llama.cpp, masks by XGrammar",
    "licence": "MIT and Apache-2.0",
    "homepage": "https://github.com/ggml-org/llama.cpp",
    "install": "llama-cpp-python xgrammar",
    "beside": ["llama_cpp.py", "xgrammar.py"],
}
OPTIONS = {
    # The right side of the grammar's rule `space`; null for the converter's own.
    "whitespace": "str|null",
    # Names of members, comma-separated, that come before all others.
    "property_order": "str",
    # XGrammar's setting; null for its default.
    "max_threads": "int|null",
    "cache": "bool|null",
}
PRESETS = {
    "faithful": {
        "whitespace": "[ \\t\\n\\r]*",
        "property_order": "",
        "max_threads": 1,
        "cache": False,
    },
    "vendor": {
        "whitespace": None,
        "property_order": "",
        "max_threads": None,
        "cache": None,
    },
    "paper": {
        "whitespace": None,
        "property_order": "",
        "max_threads": 8,
        "cache": True,
    },
}


class Engine:
    """llama.cpp's converter of schemas, and XGrammar's compiler of its grammars."""

    def __init__(self, tokenizer: Tokenizer, options: Mapping[str, Any]) -> None:
        """Build XGrammar's tables of the vocabulary."""
        masks = _beside("xgrammar")
        settings = {**masks.PRESETS["faithful"]}
        settings.update(max_threads=options["max_threads"], cache=options["cache"])
        self._xgrammar = masks.load(tokenizer, settings)
        self._converter = _beside("llama_cpp")
        self._options = options
        self.version = f"{version('llama-cpp-python')}+xgrammar.{version('xgrammar')}"

    def compile(self, schema: str) -> object:
        """Return XGrammar's compilation of llama.cpp's grammar."""
        text = self._converter.grammar_text(schema, self._options)
        return self._xgrammar.compile_gbnf(text)

    def start(self, grammar: object) -> Matcher:
        """Return a matcher at the beginning."""
        matcher: Matcher = self._xgrammar.start(grammar)
        return matcher


def _beside(name: str) -> SimpleNamespace:
    """Import the file of another engine."""
    path = Path(__file__).with_name(f"{name}.py")
    return SimpleNamespace(**runpy.run_path(str(path)))


def load(tokenizer: Tokenizer, options: Mapping[str, object]) -> Engine:
    """Return the engine over a tokenizer."""
    return Engine(tokenizer, options)
