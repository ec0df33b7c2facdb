"""Words that are no keyword of a schema's dialect, and the keyword that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from curation.checking.report import NOTE
from curation.core.documents import Lint
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
_SPELLINGS: Final = {it.lower().strip("$"): it for it in sorted(KNOWN_KEYWORDS)}
#: No keyword is spelt so: a namespace's word, or a sentence.
_NAMESPACED: Final = re.compile(r"^[xX][-_]|^_|[:./ ]|.-")


class _Tables(msgspec.Struct, frozen=True):
    """Words that are no keywords, as `unknown_words.json` has them."""

    #: Keyword to words of generators, databases, form libraries and other schema
    #: languages that mean it: in lower case, without `-` and `_`.
    meant: Mapping[str, str]
    #: Words for which another keyword does not do.
    advice: Mapping[str, str]
    #: Annotations of editors, form libraries, code generators and Hyper-Schema, and
    #: keywords that a validator's extensions add: whoever writes them knows.
    extensions: str


_TABLES: Final = msgspec.json.decode(
    Path(__file__).with_suffix(".json").read_bytes(), type=_Tables
)
_EXTENSIONS: Final = frozenset(_TABLES.extensions.split())


def unknown_words(schema: Schema) -> Iterator[tuple[Lint, str, str]]:
    """Yield the words that are no keyword, with a message and a level.

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
        words = [word for word in keywords if _is_unknown(word)]
        # A group of definitions among definitions has no keyword.
        is_group = len(words) == len(keywords) and not CONTAINERS.isdisjoint(
            location.tokens[-2:-1]
        )
        is_passed = any((*location.tokens, word) in passed for word in words)
        if not (is_group or is_passed):
            for word in words:
                if judged := _judged(word, keywords, schema.dialect):
                    place = pointer((*location.tokens, word))
                    level = "warning" if judged[1] else NOTE
                    yield Lint(code=CODE, pointer=place), judged[0], level


def slip_of(word: str) -> str:
    """Return the keyword that a word misspells; empty for none."""
    return nearest(word) or _SPELLINGS.get(_plain(word), "")


def _plain(word: str) -> str:
    return re.sub("[-_$@#]", "", word).lower()


@cache
def _meant() -> Mapping[str, Sequence[str]]:
    meant: dict[str, list[str]] = {}
    for keyword, words in _TABLES.meant.items():
        for word in words.split():
            meant.setdefault(word, []).append(keyword)
    return meant


def _is_unknown(word: str) -> bool:
    return word not in KNOWN_KEYWORDS and word not in _EXTENSIONS


def _judged(
    word: str, schema: Mapping[str, Json], dialect: Dialect
) -> tuple[str, bool] | None:
    """Return what is wrong with a word, and whether it is a fault; None of no word."""
    value, start = schema[word], f"unknown keyword `{word}`"
    if word in _TABLES.advice:
        return f"{start}: {_TABLES.advice[word]}", word != "discriminator"
    slip = slip_of(word)
    for keyword in [slip] if slip else _meant().get(_plain(word), ()):
        is_note = keyword in ANNOTATIONS and keyword != "format"
        known = is_note or keyword in dialect.effective or keyword in CONTAINERS
        if known and keyword not in schema and _may_hold(keyword, value):
            return f"{start}; did you mean `{keyword}`?", not is_note
    if _NAMESPACED.search(word):
        return None
    holds = value if isinstance(value, list) else [value]
    if any(isinstance(held, dict) and constrains(held) for held in holds):
        advice = "a property belongs below `properties`"
        return f"{start}: the schema in it applies to nothing; {advice}", True
    return f"{start}: validators ignore it; extensions begin with `x-`", False


def _may_hold(keyword: str, value: Json) -> bool:
    """Return whether a value may be the one of a keyword."""
    if keyword in ("$ref", "$schema"):
        return isinstance(value, str) and ("#" in value or value.endswith(".json"))
    if keyword == "required":
        return isinstance(value, list | bool)
    if keyword in ("type", "format"):
        return isinstance(value, str | list)
    if keyword in ("additionalProperties", "items"):
        return isinstance(value, dict | bool)
    return keyword in ANNOTATIONS or plausible(keyword, value)
