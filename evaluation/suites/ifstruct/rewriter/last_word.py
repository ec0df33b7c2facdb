"""What a text says in the end about each choice that it may state more than once.

A reader who takes the last word on everything: of the formats that are named the last
one counts, of the numbers of items, the keys and the code blocks as well. So a choice
that was stated and taken back is no final one, and a requirement that was lost is
missed. The text may come from the voices here or from a model; the patterns are those
of ordinary English requests, and what they cannot read counts as not said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.core.requirements import (
    AnswerFormat,
    Fence,
    FenceWish,
)

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.core.row_spec import RowSpec

_SCHEMA_WORDS: Final = re.compile(r"json[ -]?schema", re.IGNORECASE)
_FORMAT: Final = re.compile(r"\b(json|yaml)\b", re.IGNORECASE)
_KEY: Final = re.compile(r"\bkey\b[^.\n`\"]{0,40}[`\"]([^`\"\n]+)[`\"]", re.IGNORECASE)
_BARE: Final = re.compile(
    r"\b(?:bare|plain|naked|top-level) (?:list|array)\b|\b(?:no|without a) wrapper\b",
    re.IGNORECASE,
)
_BLOCK: Final = re.compile(r"\bcode[ -]?(?:block|fence)s?\b|\bfenced?\b", re.IGNORECASE)
_COMMENT: Final = re.compile(
    r"\b(?:commentary|explanations?|(?:additional|extra) text)\b", re.IGNORECASE
)
#: A refusal of what follows it in the same part of a sentence.
_REFUSAL: Final = re.compile(
    r"\b(?:no|not|without|never|skip|drop|avoid|omit|don't|nor)\b[^,.;:\n]*$",
    re.IGNORECASE,
)
_LANGUAGE: Final = re.compile(r"```(json|yaml)\b|\b(json|yaml) code", re.IGNORECASE)
_REACH: Final = 60
_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")


@dataclass(frozen=True, slots=True, kw_only=True)
class LastWords:
    """What a text finally says; None where it says nothing."""

    format: AnswerFormat | None
    count: tuple[int, int] | None
    #: The key of the wrapper; empty for a bare list.
    wrapper: str | None
    fence: Fence | None
    #: Whether commentary is allowed.
    commentary: bool | None


def last_words(text: str, label: str, plural: str) -> LastWords:
    """Return what a text finally says about format, count, wrapper, fence, comments.

    Args:
        text: The request.
        label: The noun of one item.
        plural: The noun of several.
    """
    named = _FORMAT.findall(_SCHEMA_WORDS.sub("", text))
    return LastWords(
        format=AnswerFormat(named[-1].lower()) if named else None,
        count=_count(text, label, plural),
        wrapper=_wrapper(text),
        fence=_fence(text),
        commentary=_commentary(text),
    )


def not_said(spec: RowSpec, text: str) -> list[str]:
    """Return the choices that a text says otherwise in the end, or not at all."""
    said = last_words(text, spec.label, spec.plural)
    fence = Fence.parse(spec.fence)
    # What a row leaves free is left unsaid, too.
    silent_fence = fence.wish is FenceWish.FREE and said.fence is None
    silent_comment = spec.commentary and said.commentary is None
    checks = {
        "format": said.format is spec.format,
        "count": said.count == (spec.least, spec.most),
        "wrapper": said.wrapper == (spec.wrapper or ""),
        "fence": silent_fence or said.fence == fence,
        "commentary": silent_comment or said.commentary == spec.commentary,
    }
    return [name for name, holds in checks.items() if not holds]


def _count(text: str, label: str, plural: str) -> tuple[int, int] | None:
    number = rf"(\d+|{'|'.join(_WORDS)})"
    nouns = f"(?:{re.escape(plural)}|{re.escape(label)})"
    form = rf"\b{number}(?:\s*(?:-|–|to|and|or)\s*{number})?\s+{nouns}\b"  # noqa: RUF001 (a dash that people type)
    found = re.findall(form, text, re.IGNORECASE)
    if not found:
        return None
    least, most = found[-1]
    return _number(least), _number(most or least)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else _WORDS.index(text.lower())


def _wrapper(text: str) -> str | None:
    said = {found.end(): found[1] for found in _KEY.finditer(text)}
    said |= {found.end(): "" for found in _BARE.finditer(text)}
    return said[max(said)] if said else None


def _fence(text: str) -> Fence | None:
    mentions = list(_BLOCK.finditer(text))
    if not mentions:
        return None
    last = mentions[-1]
    if _is_refused(text, last.start()):
        return Fence(FenceWish.FORBIDDEN)
    start = max(text.rfind(". ", 0, last.start()), text.rfind("\n", 0, last.start()), 0)
    ends = [text.find(end, last.end()) for end in (". ", "\n")]
    end = min((place for place in ends if place >= 0), default=len(text))
    language = _LANGUAGE.search(text[start:end])
    named = (language[1] or language[2]).lower() if language else ""
    return Fence(FenceWish.REQUIRED, named)


def _commentary(text: str) -> bool | None:
    mentions = list(_COMMENT.finditer(text))
    return not _is_refused(text, mentions[-1].start()) if mentions else None


def _is_refused(text: str, place: int) -> bool:
    """Return whether what stands at a place is refused by the words before it."""
    return bool(_REFUSAL.search(text[max(0, place - _REACH) : place]))
