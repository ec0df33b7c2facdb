"""Patterns that were made to hurt, or that are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson

_PATTERNS: tuple[str, ...] = (
    "^(a+)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y",
    "((((a{0,1000}){0,1000}){0,1000}){0,1000}){0,1000}", "a{4294967296}",
    "a{99999999999999999999}", "a{3,1}", "(" * 250 + "a" + ")" * 250,
    "(" * 50_000 + "a" + ")" * 50_000, "(?=" * 5_000 + ")" * 5_000, "[" * 10_000,
    "|" * 100_000, "a?" * 5_000 + "a" * 5_000, "[\\u0000-\\u{10FFFF}]{1000}" * 10,
    "(?<a>x)\\k<a>", "(?<a>x)(?<a>y)", "(?P<a>x)", "(?<=a)b(?<!c)d", "x\\Z", "\\Ax\\z",
    "(?i)x", "[[:alpha:]]+", "\\p{L}\\P{Script=Greek}", "\\p{Nothing}", "\\p{^L}",
    "\\h\\_\\-\\@", "[a-\\d]", "[z-a]", "{", "}", "]", "a{,3}", "a**", "*", "+", "(",
    ")", "[", "\\", "\\u{110000}", "\\ud800", "\\c", "\\x1", "\\1\\2\\99", "\0", "\n",
    "\u2028", "", "$^", "/^a$/i",
)  # fmt: skip
#: F26, F27: regular expressions that backtrack, explode or are none.
PATTERNS: Mapping[str, UntypedJson] = {
    f"pattern-{number}": {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": pattern}},
        "patternProperties": {pattern: {"type": "string"}},
    }
    for number, pattern in enumerate(_PATTERNS)
} | {
    "pattern-not-text": {
        "type": "object",
        "properties": {"a": {"pattern": 5}, "b": {"pattern": ["a"]}},
    }
}
