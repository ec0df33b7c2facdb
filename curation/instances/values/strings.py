"""Strings that meet a length, patterns and formats at once.

Four ways are tried in turn: realistic texts, strings from the tree of a pattern,
variations of strings that must not match, and a search for all constraints at once.
Each string is verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Final

import regress

from curation.instances.values import formats, realistic
from curation.instances.values.pattern_samples import draw_text
from curation.instances.values.words import ACCENTED, ASTRAL, ESCAPED, SCRIPTS, WORDS
from curation.regex import parser
from curation.regex.automaton import automaton, single

#: Longer strings are not made.
MAX_LENGTH: Final = 10_000_000
#: Longer strings are made only where that length is required.
_USUAL: Final = 1_000_000
#: Longest text that a backtracking engine is asked about where no automaton can be.
SAFE_UNREAD: Final = 20
#: Strings longer than this are not made by a person or by a search.
_LONG: Final = 400
#: Longest text searched for character by character.
_SEARCHED: Final = 20_000
_DRAWS: Final = 3
#: Share of free texts that are not words of a person's keyboard.
_UNUSUAL: Final = 0.12
#: Share of texts with a bound that are as long as it allows, and the longest of them.
_AT_BOUND: Final = 0.08
_MAX_AT_BOUND: Final = 256
#: Characters of a long one.
_LONG_TEXT: Final = 300
#: Steps of a search, besides one for every character required.
_STEPS: Final = 3_000
_SPACES = re.compile(r"\s$")


@dataclass(frozen=True, slots=True, kw_only=True)
class StringConstraints:
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

    def __str__(self) -> str:
        """Return what is asked: `10 to 10 characters, pattern ^[A-Z]+$`."""
        upper = "" if self.max_length is None else f" to {self.max_length}"
        parts = [f"{self.min_length}{upper or ' or more'} characters"]
        for noun, patterns in (
            ("pattern", self.patterns),
            ("format", self.formats),
            ("not pattern", self.not_patterns),
        ):
            parts += [f"{noun} {pattern}" for pattern in patterns]
        return ", ".join(parts)


@lru_cache(maxsize=4096)
def _regex(pattern: str) -> regress.Regex | None:
    strict = parser.strict_text(pattern)
    if strict is not None:
        return regress.Regex(strict, "u")
    try:
        return regress.Regex(pattern)
    except regress.RegressError:
        return None


def pattern_matches(pattern: str, text: str) -> bool:
    """Return whether an ECMA-262 pattern matches somewhere in a text.

    A pattern that cannot be read matches nothing. A backtracking engine is asked only
    about texts so short that it answers in milliseconds.
    """
    if is_long(pattern, text):
        matched = automaton_matches(pattern, text)
        if matched is not None or len(text) > SAFE_UNREAD:
            return bool(matched)
    expression = _regex(pattern)
    return expression is not None and expression.find(text) is not None


def is_long(pattern: str, text: str) -> bool:
    """Return whether a backtracking engine may take more than milliseconds."""
    tree = parser.parse(pattern)
    return len(text) > (tree.safe if tree else SAFE_UNREAD)


def automaton_matches(pattern: str, text: str) -> bool | None:
    """Return whether a pattern matches in a text, in steps that grow with its length.

    None if no automaton is exact, or none can be made.
    """
    machine = single(pattern)
    if machine is None or not machine.exact:
        return None
    try:
        return machine.accepts(text)
    except RecursionError:
        return False


def _fits_length(constraints: StringConstraints, text: str) -> bool:
    return constraints.min_length <= len(text) and (
        constraints.max_length is None or len(text) <= constraints.max_length
    )


def _fits_patterns(constraints: StringConstraints, text: str) -> bool:
    return (
        _fits_length(constraints, text)
        and all(pattern_matches(pattern, text) for pattern in constraints.patterns)
        and not any(
            pattern_matches(pattern, text) for pattern in constraints.not_patterns
        )
    )


def matches(constraints: StringConstraints, text: str) -> bool:
    """Return whether a string meets constraints, formats as jsonschema-rs judges."""
    return _fits_patterns(constraints, text) and all(
        formats.accepts(name, text, constraints.dialect) for name in constraints.formats
    )


def _is_right(constraints: StringConstraints, text: str) -> bool:
    return _fits_patterns(constraints, text) and all(
        formats.accepts_twice(name, text) for name in constraints.formats
    )


def make_string(constraints: StringConstraints, rng: Random) -> str | None:
    """Return a string that meets constraints, or None."""
    minimum, maximum = constraints.min_length, constraints.max_length
    if minimum > MAX_LENGTH or (maximum is not None and maximum < minimum):
        return None
    if not set(constraints.patterns).isdisjoint(constraints.not_patterns):
        return None
    asserted = tuple(name for name in constraints.formats if formats.is_asserted(name))
    if not (constraints.patterns or constraints.not_patterns or asserted):
        hint = constraints.formats[0] if constraints.formats else ""
        return _free(constraints, hint, rng)
    if asserted != constraints.formats:
        constraints = replace(constraints, formats=asserted)
    if len(asserted) == 1 and not (constraints.patterns or constraints.not_patterns):
        text = formats.formatted_text(asserted[0], rng)
        if _fits_length(constraints, text):
            return text
    for text, is_valid in _candidates(constraints, rng):
        if (is_valid and _fits_length(constraints, text)) or _is_right(
            constraints, text
        ):
            return text
    return _search(constraints, rng)


def _free(constraints: StringConstraints, hint: str, rng: Random) -> str:
    minimum, maximum = constraints.min_length, constraints.max_length
    if not hint and rng.random() < _UNUSUAL:
        unusual = _unusual(rng)
        if _fits_length(constraints, unusual):
            return unusual
    text = realistic.known_text(constraints.name, rng) if not hint else None
    if text is None:
        text = realistic.text(hint or constraints.name, rng)
    if maximum is not None and len(text) > maximum:
        words = _words_within(minimum, maximum)
        text = rng.choice(words) if words else _SPACES.sub("s", text[:maximum])
    if maximum is not None and maximum <= _MAX_AT_BOUND and rng.random() < _AT_BOUND:
        minimum = maximum
    return text + _padding(minimum - len(text), rng, " ")


def _unusual(rng: Random) -> str:
    """Return text of other scripts, beyond the basic plane, with escapes, or long."""
    choice = int(rng.random() * 7)
    word = rng.choice(WORDS)
    if choice <= 1:
        return rng.choice((rng.choice(ESCAPED), f'{word} "{rng.choice(WORDS)}"'))
    if choice <= 3:  # noqa: PLR2004 - two of seven
        return f"{word} {rng.choice(ASTRAL)}"
    if choice <= 5:  # noqa: PLR2004 - two of seven
        script, accented = rng.choice(SCRIPTS), rng.choice(ACCENTED)
        return rng.choice((script, f"{accented} {word}", f"{word} {script}"))
    return word + _padding(_LONG_TEXT, rng, " ")


@lru_cache(maxsize=1024)
def _words_within(minimum: int, maximum: int) -> tuple[str, ...]:
    return tuple(word for word in WORDS if minimum <= len(word) <= maximum)


def _padding(count: int, rng: Random, between: str) -> str:
    if count <= 0:
        return ""
    block = "".join(between + rng.choice(WORDS) for _ in range(min(count, 200)))
    return _SPACES.sub("s", (block * (count // len(block) + 1))[:count])


def _candidates(
    constraints: StringConstraints, rng: Random
) -> Iterator[tuple[str, bool]]:
    """Yield strings that may meet constraints, and whether they match for sure."""
    usual = constraints.min_length <= _LONG
    if usual and not constraints.patterns and rng.random() < 0.7:  # noqa: PLR2004 - often
        for pattern in constraints.not_patterns:
            yield from ((text, False) for text in _unmatching_texts(pattern, rng))
    if usual:
        yield from ((text, False) for text in _natural_texts(constraints, rng))
    alone = len(constraints.patterns) == 1 and not (
        constraints.formats or constraints.not_patterns
    )
    for pattern in constraints.patterns:
        tree = parser.parse(pattern)
        if tree is not None:
            for text in _pattern_samples(constraints, tree, rng):
                yield text, alone and tree.sure
    if usual:
        for pattern in constraints.not_patterns:
            yield from ((text, False) for text in _unmatching_texts(pattern, rng))


def _natural_texts(constraints: StringConstraints, rng: Random) -> Iterator[str]:
    for name in constraints.formats:
        for _ in range(2 * _DRAWS):
            yield formats.formatted_text(name, rng)
    if constraints.formats:
        return
    natural = realistic.known_text(constraints.name, rng)
    if natural is not None and rng.random() < 0.8:  # noqa: PLR2004 - variety
        yield natural
    elif constraints.not_patterns and not constraints.patterns:
        yield realistic.text(constraints.name, rng)


def _pattern_samples(
    constraints: StringConstraints, tree: parser.Pattern, rng: Random
) -> Iterator[str]:
    if tree.root.low > max(_USUAL, constraints.min_length):
        return
    minimum, maximum = constraints.min_length, constraints.max_length
    bound = minimum > 0 or maximum is not None
    for draw in range(2 * _DRAWS):
        want = None
        if bound and (draw >= _DRAWS or minimum > tree.root.low):
            low = max(minimum, tree.root.low)
            room = 8 if maximum is None else min(max(0, maximum - low), 8)
            want = low + int(rng.random() * (room + 1))
        text = draw_text(tree, rng, want)
        if text is not None:
            yield _extended(tree, text, constraints, rng)


def _extended(
    tree: parser.Pattern, text: str, constraints: StringConstraints, rng: Random
) -> str:
    """Add text before or after, where the pattern is not anchored there."""
    lacking = constraints.min_length - len(text)
    if not tree.ends and (lacking > 0 or rng.random() < (0.7 if tree.starts else 0.1)):
        addition = realistic.host(rng) if text.endswith("://") else rng.choice(WORDS)
        if lacking > len(addition):
            addition += _padding(lacking - len(addition), rng, "")
        return (text + addition)[: _room(constraints, text)]
    if not tree.starts and (lacking > 0 or rng.random() < (0.9 if tree.ends else 0)):
        addition = rng.choice(WORDS) + _padding(lacking, rng, "")
        return (addition + text)[-_room(constraints, text) :]
    return text


def _room(constraints: StringConstraints, text: str) -> int:
    """Return how long a text may become; at least how long it is."""
    maximum = constraints.max_length
    return MAX_LENGTH if maximum is None else max(maximum, len(text), 1)


def _unmatching_texts(pattern: str, rng: Random) -> Iterator[str]:
    """Yield variations of strings that match a pattern, which may not match."""
    tree = parser.parse(pattern)
    for _ in range(_DRAWS):
        text = draw_text(tree, rng) if tree and tree.root.low <= _LONG else None
        if text is None:
            break
        index = int(rng.random() * (len(text) + 1))
        yield text[:index] + rng.choice("!? .#") + text[index:]
        yield text[: max(0, index - 1)] + text[index:]
        yield text.swapcase()
    yield from ("", "?", "!!", "a", "0")


def _search(constraints: StringConstraints, rng: Random) -> str | None:
    """Return a string that an automaton of all constraints finds, or None."""
    if constraints.min_length > _SEARCHED:
        return None
    required = (
        *constraints.patterns,
        *(formats.PATTERNS[name] for name in constraints.formats),
    )
    bounds = (constraints.min_length, constraints.max_length)
    example = _first(required, constraints.not_patterns, *bounds)
    if example is None:
        return None
    for _ in range(_DRAWS):
        text = _walk_automaton(required, constraints.not_patterns, *bounds, rng)
        if text is not None and _is_right(constraints, text):
            return text
    return example if _is_right(constraints, example) else None


@lru_cache(maxsize=8192)
def _first(
    required: tuple[str, ...],
    refused: tuple[str, ...],
    minimum: int,
    maximum: int | None,
) -> str | None:
    """Return the first string of a fixed draw, so that a failure is found only once."""
    return _walk_automaton(required, refused, minimum, maximum, Random(0))  # noqa: S311 - no secret


def _walk_automaton(
    required: tuple[str, ...],
    refused: tuple[str, ...],
    minimum: int,
    maximum: int | None,
    rng: Random,
) -> str | None:
    machine = automaton(required, refused)
    if machine is None:
        return None
    try:
        return machine.draw(rng, minimum, maximum, _STEPS + 2 * minimum)
    except RecursionError:
        return None
