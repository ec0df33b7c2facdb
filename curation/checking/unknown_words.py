"""Words outside of a schema's dialect, and the keyword meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from curation.checking.report import NOTE, SchemaProblem, problem_at
from curation.json.pointer import pointer
from curation.lint.idle_keywords import nearest, plausible
from curation.references.reachable import taking_part
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, KNOWN_KEYWORDS
from curation.schema.roots import constrains

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.references.schema import Schema
    from curation.schema.dialects import Dialect

CODE: Final = "unknown-keyword"
MEANING: Final = "a word that is no keyword of the dialect: validators ignore it"
_SPELLINGS: Final = {
    keyword.lower().strip("$"): keyword for keyword in sorted(KNOWN_KEYWORDS)
}
#: No keyword is spelt so: a namespace's word, or a sentence.
_NAMESPACED: Final = re.compile(r"^[xX][-_]|^_|[:./ ]|.-")


_TABLES: Final = msgspec.json.decode(
    Path(__file__).with_suffix(".json").read_bytes(), type=dict[str, dict[str, str]]
)
#: Keyword to words of generators, databases, form libraries and other schema languages
#: that mean it: in lower case, without `-` and `_`.
_SYNONYMS: Final = _TABLES["synonyms"]
#: Words for which another keyword does not do.
_ADVICE: Final = _TABLES["advice"]
#: Words about which nothing is reported: keywords, and by its source each annotation
#: or keyword that its author knows to be an extension.
_EXPECTED: Final = KNOWN_KEYWORDS.union(*map(str.split, _TABLES["extensions"].values()))


def unknown_words(schema: Schema) -> Iterator[SchemaProblem]:
    """Yield the unknown words.

    Extensions are left out. A word that its author meant to restrict something is a
    warning, others are notes.
    A member that a reference passes through holds definitions, and so do its siblings.
    """
    passed: set[Tokens] = set()
    for reference in schema.references:
        target = schema.lookup(reference.text, reference.base)
        if target is not None:
            passed |= {target.tokens[:end] for end in range(len(target.tokens) + 1)}
    for location in taking_part(schema.value, schema.dialect):
        keywords = location.keywords
        words = [word for word in keywords if word not in _EXPECTED]
        # A group of definitions among definitions has no keyword.
        is_group = len(words) == len(keywords) and not CONTAINERS.isdisjoint(
            location.tokens[-2:-1]
        )
        is_passed = any((*location.tokens, word) in passed for word in words)
        if not (is_group or is_passed):
            for word in words:
                if judged := _judged(word, keywords, schema.dialect):
                    message, level = judged
                    where = pointer((*location.tokens, word))
                    yield problem_at(where, CODE, message, level)


def slip_of(word: str) -> str:
    """Return the keyword that a word misspells; empty for none."""
    return nearest(word) or _SPELLINGS.get(_plain(word), "")


def _plain(word: str) -> str:
    return re.sub("[-_$@#]", "", word).lower()


@cache
def _synonyms() -> Mapping[str, Sequence[str]]:
    synonyms: dict[str, list[str]] = {}
    for keyword, words in _SYNONYMS.items():
        for word in words.split():
            synonyms.setdefault(word, []).append(keyword)
    return synonyms


def _judged(
    word: str, schema: Mapping[str, Json], dialect: Dialect
) -> tuple[str, str] | None:
    """Return the fault of a word, and its level; None for an extension."""
    value, start, fault = schema[word], f"unknown keyword `{word}`", "warning"
    if word in _ADVICE:
        level = NOTE if word == "discriminator" else fault
        return f"{start}: {_ADVICE[word]}", level
    slip = slip_of(word)
    for keyword in [slip] if slip else _synonyms().get(_plain(word), ()):
        is_note = keyword in ANNOTATIONS and keyword != "format"
        is_effective = is_note or keyword in dialect.effective | CONTAINERS
        if is_effective and keyword not in schema and _may_hold(keyword, value):
            return f"{start}; did you mean `{keyword}`?", NOTE if is_note else fault
    if _NAMESPACED.search(word):
        return None
    values = value if isinstance(value, list) else [value]
    if any(isinstance(inner, dict) and constrains(inner) for inner in values):
        advice = "a property belongs below `properties`"
        return f"{start}: the schema in it applies to nothing; {advice}", fault
    return f"{start}: validators ignore it; extensions begin with `x-`", NOTE


def _may_hold(keyword: str, value: Json) -> bool:
    """Return whether a value may be the one of a keyword."""
    if keyword in ("$ref", "$schema"):
        return isinstance(value, str) and ("#" in value or value.endswith(".json"))
    if keyword in ("type", "format"):
        return isinstance(value, str | list)
    if keyword in ("additionalProperties", "items"):
        return isinstance(value, dict | bool)
    return keyword in ANNOTATIONS or plausible(keyword, value)
