"""The documents keep to the field's words, and to a length that is read."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Turns of phrase of this project alone; a reader stumbles over each of them.
_PHRASES = (
    r"\bthat (?:is|are|was|were|has|have) (?:\w+ed|made|given|told|read|found)\b",
    r"\b(?:tells?|told|says?|said)\b",
    r"\bwhat (?:it|is|was|an?|the|they|no|others?|each|stands?|came|can|must|has)\b",
    r"\b(?:is|are|was|were) (?:no|none)\b",
    r"\bso (?:many|much|long)\b",
    r"\b(?:stands?|stood|beside|behind|anew)\b",
    r"(?:[,;] |\. |\bor )else\b",
    r"\b(?:that|those) of\b",
    r"\bgo(?:es)? on\b|\bwent on\b|\bonce more\b",
)
#: Per 10,000 words.
_MAX_PHRASES = 25
_MAX_WORDS = 20_000


def _prose() -> str:
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    text = "\n".join(path.read_text("utf-8") for path in files)
    return re.sub(r"```.*?```", " ", text, flags=re.DOTALL)


def test_the_documents_are_short_and_plain() -> None:
    """Code blocks do not count."""
    prose = _prose()
    words = len(re.findall(r"[A-Za-z']+", prose))
    phrases = re.findall("|".join(_PHRASES), prose)
    assert words <= _MAX_WORDS
    assert 1e4 * len(phrases) / words <= _MAX_PHRASES, sorted(phrases)
