"""Strings of a length, patterns and formats.

First what a person might write, then what a pattern's tree gives, then near relatives
of what must not match, at last a search of all constraints at once. Whatever comes
of it is verified.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Final

import regress

from curation.instances.regex import parser
from curation.instances.regex.automaton import automaton, single
from curation.instances.regex.sampling import sample
from curation.instances.scalars import formats, realistic
from curation.instances.words import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.instances.regex.syntax_tree import Pattern, PatternNode

#: Longer strings are not made.
LONGEST: Final = 10_000_000
#: Longer ones are made only if so much is required.
_USUAL: Final = 1_000_000
#: Longest text that a backtracking engine is asked about if nothing else can be.
_SAFE_UNREAD: Final = 20
#: Longer strings are not what a person writes, nor a search.
_LONG: Final = 400
#: Longest text that is searched for character by character.
_SEARCHED: Final = 20_000
_DRAWS: Final = 3
#: Steps of a search, besides one for every character required.
_STEPS: Final = 3_000
_SPACES = re.compile(r"\s$")


@dataclass(frozen=True, slots=True, kw_only=True)
class StringShape:
    """Everything that applies to one string; lengths count code points."""

    min_length: int = 0
    max_length: int | None = None
    patterns: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    not_patterns: tuple[str, ...] = ()
    #: The property's name, a hint for realistic values.
    name: str = ""
    #: The dialect whose formats `matches` asks for; the newest if empty.
    dialect: str = ""


@lru_cache(maxsize=4096)
def _regex(pattern: str) -> regress.Regex | None:
    strict = parser.strict_text(pattern)
    if strict is not None:
        return regress.Regex(strict, "u")
    try:
        return regress.Regex(pattern)
    except regress.RegressError:
        return None


def holds(pattern: str, text: str) -> bool:
    """Return whether an ECMA-262 pattern matches somewhere in a text.

    What no engine reads matches nothing. A backtracking engine is asked only where
    it surely answers soon.
    """
    tree = parser.parse(pattern)
    if len(text) > (tree.safe if tree else _SAFE_UNREAD):
        machine = single(pattern)
        if machine is not None and machine.exact:
            try:
                return machine.accepts(text)
            except RecursionError:
                return False
        if len(text) > _SAFE_UNREAD:
            return False
    expression = _regex(pattern)
    return expression is not None and expression.find(text) is not None


def _fits_length(shape: StringShape, text: str) -> bool:
    return shape.min_length <= len(text) and (
        shape.max_length is None or len(text) <= shape.max_length
    )


def matches(shape: StringShape, text: str) -> bool:
    """Return whether a string is of that shape, formats as jsonschema-rs judges."""
    return (
        _fits_length(shape, text)
        and all(holds(pattern, text) for pattern in shape.patterns)
        and not any(holds(pattern, text) for pattern in shape.not_patterns)
        and all(formats.accepts(name, text, shape.dialect) for name in shape.formats)
    )


def _is_right(shape: StringShape, text: str) -> bool:
    """Return whether it is of that shape whichever validator judges."""
    return (
        _fits_length(shape, text)
        and all(holds(pattern, text) for pattern in shape.patterns)
        and not any(holds(pattern, text) for pattern in shape.not_patterns)
        and all(formats.accepts_twice(name, text) for name in shape.formats)
    )


def choose(shape: StringShape, rng: Random) -> str | None:
    """Return a string of that shape, or None where none is known."""
    least, most = shape.min_length, shape.max_length
    if least > LONGEST or (most is not None and most < least):
        return None
    asserted = tuple(name for name in shape.formats if formats.is_asserted(name))
    if not (shape.patterns or shape.not_patterns or asserted):
        hint = shape.formats[0] if shape.formats else ""
        return _free(shape, hint, rng)
    shape = replace(shape, formats=asserted)
    if shape.patterns == () and shape.not_patterns == () and len(asserted) == 1:
        text = formats.sample(asserted[0], rng)
        if _fits_length(shape, text):
            return text
    for text, made in _candidates(shape, rng):
        if (made and _fits_length(shape, text)) or _is_right(shape, text):
            return text
    return _searched(shape, rng)


def _free(shape: StringShape, hint: str, rng: Random) -> str:
    """Return text that only its length binds."""
    text = realistic.known_text(shape.name, rng) if not hint else None
    if text is None:
        text = realistic.text(hint or shape.name, rng)
    least, most = shape.min_length, shape.max_length
    if most is not None and len(text) > most:
        words = _words_within(least, most)
        text = rng.choice(words) if words else _SPACES.sub("s", text[:most])
    return text + _padding(least - len(text), rng, " ")


@lru_cache(maxsize=1024)
def _words_within(least: int, most: int) -> tuple[str, ...]:
    return tuple(word for word in WORDS if least <= len(word) <= most)


def _padding(count: int, rng: Random, between: str) -> str:
    """Return so many characters of words."""
    if count <= 0:
        return ""
    block = "".join(between + rng.choice(WORDS) for _ in range(min(count, 200)))
    return _SPACES.sub("s", (block * (count // len(block) + 1))[:count])


def _made_sure(shape: StringShape) -> bool:
    """Return whether what is made for the pattern needs no verification."""
    if len(shape.patterns) != 1 or shape.formats or shape.not_patterns:
        return False
    tree = parser.parse(shape.patterns[0])
    return tree is not None and tree.sure


def _candidates(shape: StringShape, rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield strings that may be of the shape, and whether they match for sure."""
    usual = shape.min_length <= _LONG
    if usual and not shape.patterns and rng.random() < 0.7:  # noqa: PLR2004 - often
        for pattern in shape.not_patterns:
            yield from ((text, False) for text in _unlike(pattern, rng))
    if usual:
        yield from ((text, False) for text in _natural(shape, rng))
    sure = _made_sure(shape)
    for pattern in shape.patterns:
        yield from ((text, sure) for text in _of_pattern(shape, pattern, rng))
    if usual:
        for pattern in shape.not_patterns:
            yield from ((text, False) for text in _unlike(pattern, rng))


def _natural(shape: StringShape, rng: Random) -> Iterator[str]:
    for name in shape.formats:
        for _ in range(2 * _DRAWS):
            yield formats.sample(name, rng)
    if shape.formats:
        return
    known = realistic.known_text(shape.name, rng)
    if known is not None and rng.random() < 0.8:  # noqa: PLR2004 - variety
        yield known
    elif shape.not_patterns and not shape.patterns:
        yield realistic.text(shape.name, rng)


def _of_pattern(shape: StringShape, pattern: str, rng: Random) -> Iterator[str]:
    tree = parser.parse(pattern)
    if tree is None or tree.root.low > max(_USUAL, shape.min_length):
        return
    least, most = shape.min_length, shape.max_length
    bound = least > 0 or most is not None
    for draw in range(2 * _DRAWS):
        want = None
        if bound and (draw >= _DRAWS or least > tree.root.low):
            want = _wanted(tree.root, least, most, rng)
        text = sample(tree, rng, want)
        if text is not None:
            yield _around(tree, text, shape, rng)


def _wanted(root: PatternNode, least: int, most: int | None, rng: Random) -> int:
    low = max(least, root.low)
    room = 8 if most is None else max(0, most - low)
    return low + int(rng.random() * (min(room, 8) + 1))


def _around(tree: Pattern, text: str, shape: StringShape, rng: Random) -> str:
    """Put something before or behind where a pattern leaves that open."""
    lacking = shape.min_length - len(text)
    if not tree.ends and (lacking > 0 or rng.random() < (0.7 if tree.starts else 0.1)):
        more = realistic.host(rng) if text.endswith("://") else rng.choice(WORDS)
        if lacking > len(more):
            more += _padding(lacking - len(more), rng, "")
        return (text + more)[: _room(shape, text)]
    if not tree.starts and (lacking > 0 or rng.random() < (0.9 if tree.ends else 0)):
        more = rng.choice(WORDS) + _padding(lacking, rng, "")
        return (more + text)[-_room(shape, text) :]
    return text


def _room(shape: StringShape, text: str) -> int:
    """Return how long a text may become, or how long it is."""
    most = shape.max_length
    return LONGEST if most is None else max(most, len(text), 1)


def _unlike(pattern: str, rng: Random) -> Iterator[str]:
    """Yield near relatives of strings that match a pattern."""
    tree = parser.parse(pattern)
    for _ in range(_DRAWS):
        text = sample(tree, rng) if tree and tree.root.low <= _LONG else None
        if text is None:
            break
        index = int(rng.random() * (len(text) + 1))
        yield text[:index] + rng.choice("!? .#") + text[index:]
        yield text[: max(0, index - 1)] + text[index:]
        yield text.swapcase()
    yield from ("", "?", "!!", "a", "0")


def _searched(shape: StringShape, rng: Random) -> str | None:
    """Return a string that an automaton of all constraints finds, or None."""
    if shape.min_length > _SEARCHED:
        return None
    wanted = (*shape.patterns, *(formats.PATTERNS[name] for name in shape.formats))
    bounds = (shape.min_length, shape.max_length)
    first = _first(wanted, shape.not_patterns, *bounds)
    if first is None:
        return None
    for _ in range(_DRAWS):
        text = _walked(wanted, shape.not_patterns, *bounds, rng)
        if text is not None and _is_right(shape, text):
            return text
    return first if _is_right(shape, first) else None


@lru_cache(maxsize=8192)
def _first(
    wanted: tuple[str, ...], refused: tuple[str, ...], least: int, most: int | None
) -> str | None:
    """Return what does not depend on the draw, to know soon where nothing is."""
    return _walked(wanted, refused, least, most, Random(0))  # noqa: S311 - no secret


def _walked(
    wanted: tuple[str, ...],
    refused: tuple[str, ...],
    least: int,
    most: int | None,
    rng: Random,
) -> str | None:
    machine = automaton(wanted, refused)
    if machine is None:
        return None
    try:
        return machine.sample(rng, least, most, _STEPS + 2 * least)
    except RecursionError:
        return None
