"""Find the keywords that an engine's refusals and warnings are about.

Patterns come from the engine's own file (`refusals` of its `ABOUT`) and from
`refusals.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from curation.schema.keywords import ANNOTATIONS, CONTAINERS, KNOWN_KEYWORDS
from evaluation.core.cases import Row
from evaluation.core.run_header import RefusalPattern

_TABLE: Final = Path(__file__).with_name("refusals.toml")
#: Maximum characters of a message to search: it may quote a whole schema.
_MAX_LENGTH: Final = 20_000
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
    text = message[:_MAX_LENGTH]
    for pattern in (*declared, *_messages().get(engine.replace("-", "_"), ())):
        match = _compiled(pattern.pattern).search(text)
        if match:
            return {*pattern.keywords, *_in_groups(match.groupdict())}
    return set()


def has_warning(
    row: Row, keyword: str, declared: Sequence[RefusalPattern] = ()
) -> bool:
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
    depth = 0
    position = 0
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
