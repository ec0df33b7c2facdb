"""Outcomes of rows, and other facts out of their labels and messages.

Keywords of refusals and warnings are found by patterns: those of the engine's own file
(`refusals` of its `ABOUT`), and those of `refusals.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from curation.core.documents import Explained
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, KNOWN_KEYWORDS
from evaluation.core.cases import (
    InstanceResult,
    Result,
    Row,
    StoredText,
    StoredTexts,
    WalkVerdict,
)
from evaluation.core.run_header import RefusalPattern

#: Key of a walk's label: a walk with it is measured, but is not part of the outcome.
APART = "apart"
#: Key of the label of a row without walks, where a model wrote a text: its class.
WRITTEN = "outcome"
#: The class of a text that is as its schema wants it.
COMPLIANT = "compliant"

#: Verdicts in which an engine is at odds with itself.
FAULTS = frozenset(
    {WalkVerdict.LIED, WalkVerdict.CONTRADICTED, WalkVerdict.ENGINE_ERROR}
)
#: Verdicts that do not show whether the text may be written.
_TELLS_NOTHING = FAULTS | {WalkVerdict.NOT_RUN}


class Outcome(Explained):
    """One word for one case."""

    PASSED = (
        "passed",
        "every valid instance was accepted to its end, every invalid one blocked",
    )
    UNTESTED = ("untested", "compiled, but no instance to walk")
    OVER_CONSTRAINED = ("over_constrained", "a valid instance was blocked")
    MASK_GAP = ("mask_gap", "a valid instance was blocked at a token that commit takes")
    UNDER_CONSTRAINED = ("under_constrained", "an invalid instance was accepted")
    WRONG_BOTH_WAYS = (
        "wrong_both_ways",
        "a valid instance was blocked and an invalid one accepted",
    )
    NOT_COMPLIANT = (
        "not_compliant",
        "a text that a model wrote under it violates the schema",
    )
    LIED = ("lied", "mask and commit disagreed about a token")
    CONTRADICTED = (
        "contradicted",
        "blocked a token in one text and allowed it in another, after the same tokens",
    )
    ENGINE_ERROR = ("engine_error", "the engine failed while an instance was walked")
    COMPILE_ERROR = ("compile_error", "the engine refused the schema and said so")
    TIMEOUT = ("timeout", "no answer within the deadline")
    CRASH = ("crash", "the process died")
    OUT_OF_MEMORY = ("out_of_memory", "the memory limit was reached")
    ERROR = ("error", "the model or its server failed")
    TOO_MUCH_OUTPUT = ("too_much_output", "it printed without end")
    PROTOCOL_ERROR = ("protocol_error", "the reply was not an answer")


#: Best first. An honest refusal is better than a wrong mask, and that is better than
#: an engine that dies.
RANKS: Final = (
    (Outcome.PASSED, Outcome.UNTESTED),
    (Outcome.COMPILE_ERROR,),
    (Outcome.OVER_CONSTRAINED, Outcome.MASK_GAP, Outcome.NOT_COMPLIANT),
    (Outcome.WRONG_BOTH_WAYS, Outcome.UNDER_CONSTRAINED),
    (Outcome.ENGINE_ERROR, Outcome.ERROR, Outcome.LIED, Outcome.CONTRADICTED),
    (
        Outcome.CRASH,
        Outcome.OUT_OF_MEMORY,
        Outcome.TIMEOUT,
        Outcome.TOO_MUCH_OUTPUT,
        Outcome.PROTOCOL_ERROR,
    ),
)


def is_judged_apart(walked: InstanceResult | StoredText) -> bool:
    """Return whether a walk is measured with the others and judged apart."""
    return bool(walked.label.get(APART))


def did_compile(row: Row) -> bool:
    """Return whether the engine compiled the schema."""
    return row.result is Result.OK or row.phase not in {"", "compile"}


def text_class(row: Row) -> str | None:
    """Return the class of the text that a model wrote; None if the row has walks."""
    written = None if row.walks else row.label.get(WRITTEN)
    return None if written is None else str(written)


def engine_is_right(walked: InstanceResult | StoredText) -> bool | None:
    """Return whether the engine was right about a text; None if unknown.

    A valid text must be written to its end, an invalid one blocked at a token or the
    end.
    """
    if walked.verdict in _TELLS_NOTHING:
        return None
    return (walked.verdict is WalkVerdict.ACCEPTED) is walked.valid


def engine_is_wrong(walked: InstanceResult) -> bool:
    """Return whether a walk that counts shows the engine to be wrong about its text."""
    return not is_judged_apart(walked) and (
        engine_is_right(walked) is False or walked.verdict in FAULTS
    )


def outcome_of(row: Row) -> Outcome:
    """Return the outcome of a row; walks labelled `apart` do not count.

    Where a model wrote a text, its class decides in place of walks.
    """
    if row.result is not Result.OK:
        return Outcome(row.result.value)
    text = text_class(row)
    if text is not None:
        return Outcome.PASSED if text == COMPLIANT else Outcome.NOT_COMPLIANT
    counted = [walk for walk in row.walks if not is_judged_apart(walk)]
    verdicts = {walk.verdict for walk in counted}
    for verdict in (WalkVerdict.LIED, WalkVerdict.CONTRADICTED):
        if verdict in verdicts:
            return Outcome(verdict.value)
    kinds = {walk.valid for walk in counted if engine_is_right(walk) is False}
    if kinds == {True, False}:
        return Outcome.WRONG_BOTH_WAYS
    if True in kinds:
        wrong = {walk.verdict for walk in counted if engine_is_right(walk) is False}
        only_missed = wrong == {WalkVerdict.MASK_GAP}
        return Outcome.MASK_GAP if only_missed else Outcome.OVER_CONSTRAINED
    if kinds:
        return Outcome.UNDER_CONSTRAINED
    if any(engine_is_right(walk) for walk in counted):
        return Outcome.PASSED
    return Outcome.UNTESTED


def number_in(row: Row | StoredTexts, name: str, default: int) -> int:
    """Return a number in a row's label; the default where it is not one."""
    value = row.label.get(name)
    return value if type(value) is int else default


_TABLE: Final = Path(__file__).with_name("refusals.toml")
#: Maximum characters of a message to search: it may quote a whole schema.
_LONGEST: Final = 20_000
_QUOTED: Final = re.compile(r'"([^"]*)"')
#: A member's name and what follows it, in JSON or as Python writes it.
_MEMBER: Final = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*(:?)""")
_NOWHERE: Final = re.compile(r"(?!)")
_OPENING, _CLOSING = "{[(", "}])"
#: Words that ask nothing of an instance by themselves.
_SILENT: Final = (ANNOTATIONS - {"format"}) | CONTAINERS | {"$schema", "$id", "id"}
#: Names for rejected features without a keyword.
UNTYPED, BOOLEAN, TUPLE = "untyped schema", "Boolean schema", "items as a list"


def refused_keywords(
    engine: str, message: str, declared: Sequence[RefusalPattern] = ()
) -> set[str]:
    """Return the keywords that an engine's message is about; empty if unknown.

    A rejected feature without a keyword has a name.

    Args:
        engine: Its name without version, `-` as good as `_`.
        message: The message.
        declared: Patterns from its file, tried before the built-in ones.
    """
    text = message[:_LONGEST]
    for pattern in (*declared, *_messages().get(engine.replace("-", "_"), ())):
        match = _compiled(pattern.pattern).search(text)
        if match:
            return {*pattern.keywords, *_in_groups(match.groupdict())}
    return set()


def warns_of(row: Row, keyword: str, declared: Sequence[RefusalPattern] = ()) -> bool:
    """Return whether a warning of an engine is about a keyword.

    Warnings about its context, such as the `oneOf` around it, are not. A keyword that
    is an English word, such as `not`, must be quoted in the warning.

    Args:
        row: What the engine made of a case.
        keyword: The keyword; empty if it is unknown, which no warning is about.
        declared: Patterns from the engine's file.
    """
    if not keyword:
        return False
    name = row.engine.partition(" ")[0]
    quote = r"[\"'`]" if keyword.islower() else ""
    named = re.compile(rf"{quote}(?<![\w$]){re.escape(keyword)}(?!\w){quote}")
    return any(
        named.search(warning) or keyword in refused_keywords(name, warning, declared)
        for warning in row.warnings
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern; an invalid one, of any run's header, matches nothing."""
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return _NOWHERE


def _in_groups(groups: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the keywords that the groups of a pattern matched."""
    yield from _QUOTED.findall(groups.get("keys") or "")
    if groups.get("keyword"):
        yield str(groups["keyword"])
    if groups.get("node") is not None:
        yield from _of_node(str(groups["node"]))
    if groups.get("format") is not None:
        yield "format"


def _of_node(text: str) -> set[str]:
    """Return the keywords of a schema that an engine quotes, perhaps cut off."""
    start = text.strip().lower()
    if start.startswith("["):
        return {TUPLE}
    if start.startswith(("true", "false")):
        return {BOOLEAN}
    words = {name for name in _names(text) if name in KNOWN_KEYWORDS} - _SILENT
    # These engines do read `type`; the other keywords are the cause.
    return words - {"type"} or words or {UNTYPED}


def _names(text: str) -> Iterator[str]:
    depth = position = 0
    while position < len(text):
        match = _MEMBER.match(text, position)
        if match:
            if depth == 1 and match[3]:
                yield match[1] if match[1] is not None else match[2]
            position = match.end()
            continue
        depth += (text[position] in _OPENING) - (text[position] in _CLOSING)
        if depth == 0 and text[position] in _CLOSING:
            return
        position += 1


@cache
def _messages() -> Mapping[str, Sequence[RefusalPattern]]:
    tables = msgspec.toml.decode(_TABLE.read_bytes(), type=_MessageFile).message
    patterns: dict[str, list[RefusalPattern]] = {}
    for table in tables:
        patterns_of_engine = patterns.setdefault(table.engine, [])
        patterns_of_engine += patterns[table.like] if table.like else [table]
    return MappingProxyType(patterns)


class _MessageTable(RefusalPattern, frozen=True, kw_only=True):
    engine: str
    #: Another engine, whose messages are meant.
    like: str = ""
    pattern: str = ""


class _MessageFile(msgspec.Struct, frozen=True):
    message: tuple[_MessageTable, ...]
