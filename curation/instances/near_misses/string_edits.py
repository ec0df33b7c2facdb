"""Edits of strings: too short, too long, unlike the pattern or the format."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from curation.validation.python_validators import PYTHON_VALIDATORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.instances.near_misses.edit_target import Edit, EditTarget

#: Longer strings than this are not made to cross a bound.
LONGEST: Final = 70_000
#: The line break stands between letters: `.` matches none in any engine, but `$` of
#: Python's `re` also matches before one at the end.
_ODD: Final = (
    *("!", " ", "~", "#", "0", "a", "A", "-", "\u00e4", "a\na"),
    *('"', "\\", "\U0001f600", ""),
)
#: One character, and two code units of UTF-16.
_ASTRAL: Final = "\U0001f600"
#: Share of texts too long that are made of it, and the longest of them.
_ASTRAL_SHARE: Final = 0.1
_LONGEST_ASTRAL: Final = 1_000
#: Texts that look like a format, but are none.
_MALFORMED: Final[dict[str, tuple[str, ...]]] = {
    "date-time": ("2024-13-01T00:00:00Z", "2024-01-01 25:00", "2024-01-01"),
    "date": ("2024-02-30", "2024-13-01", "01/02/2024"),
    "time": ("25:00:00Z", "noon", "12:60:00Z"),
    "duration": ("1 day", "P", "PD1"),
    "email": ("name.example.com", "@"),
    "idn-email": ("name.example.com", "@"),
    "hostname": ("-example-.com", "a b", "exa_mple..com"),
    "idn-hostname": ("-example-.com", "a b", "\u3002"),
    "ipv4": ("256.256.256.256", "192.0.2", "192.0.2.1.1"),
    "ipv6": ("2001:db8:::1", "12345::", "g::1"),
    "uri": ("example com", "//a b", "\\\\host\\share", "a", "/a"),
    "uri-reference": ("a b", "\\\\host\\share", "%"),
    "iri": ("example com", "//a b", "a", "\\\\host\\share"),
    "iri-reference": ("a b", "\\\\host\\share"),
    "uuid": ("123e4567-e89b-12d3-a456-42661417400", "not-a-uuid"),
    "uri-template": ("https://example.com/{a", "{"),
    "json-pointer": ("a", "/~2"),
    "relative-json-pointer": ("/a", "-1", "a"),
    "regex": ("(", "[", "a{2,1}"),
}


def altered(text: str) -> Iterator[str]:
    """Yield texts a little unlike the given one."""
    if text:
        yield text[:-1]
        yield text + text[-1]
    yield text + "x"
    if text.swapcase() != text:
        yield text.swapcase()
    yield "other"
    yield from _ODD


def shorter(target: EditTarget) -> Iterator[Edit]:
    """Yield texts one character too short, then shorter ones."""
    least = target.limit
    text = target.value if isinstance(target.value, str) else "x" * min(least, LONGEST)
    yield text[: least - 1]
    yield text[len(text) - least + 1 :]
    if len(text) > least > 1:
        yield text[: least // 2] + text[len(text) - (least - 1 - least // 2) :]
    for character in ("a", "0", "A"):
        yield character * min(least - 1, LONGEST)
    yield text[: least // 2]
    yield ""


def longer(target: EditTarget) -> Iterator[Edit]:
    """Yield texts one character too long."""
    most = target.limit
    if most >= LONGEST:
        return
    text = target.value if isinstance(target.value, str) else "x"
    if most < _LONGEST_ASTRAL and target.rng.random() < _ASTRAL_SHARE:
        yield _ASTRAL * (most + 1)
    yield from _stretched(text, most + 1)
    for character in ("a", "0", "A", "x", "1"):
        yield character * (most + 1)


def _stretched(text: str, length: int) -> Iterator[str]:
    """Yield texts of a length, grown by repeating what is inside."""
    missing = length - len(text)
    if missing <= 0 or not text:
        return
    yield text + text[-1] * missing
    if "." in text:
        dot = text.rindex(".")
        yield text[:dot] + "x" * missing + text[dot:]
        dot = text.index(".")
        yield text[:dot] + text[max(dot - 1, 0)] * missing + text[dot:]
    middle = len(text) // 2
    yield text[:middle] + text[middle] * missing + text[middle:]
    yield text[0] * missing + text
    yield (text * (missing // len(text) + 2))[:length]


def unmatched(target: EditTarget) -> Iterator[Edit]:
    """Yield texts that a pattern may refuse, of a length that is allowed."""
    conjunction = target.conjunction
    text = target.value if isinstance(target.value, str) else "text"
    most = LONGEST if conjunction.max_length is None else int(conjunction.max_length)
    least = min(int(conjunction.min_length), LONGEST)
    for other in _unlike(text):
        repeats = least // len(other) + 1 if 0 < len(other) < least else 1
        yield (other * repeats)[: max(least, min(most, len(other)))]


def _unlike(text: str) -> Iterator[str]:
    if text:
        yield text[:-1] + "!"
        yield "!" + text[1:]
    yield text + "!"
    yield text[:-1]
    yield text + text
    yield text.swapcase()
    yield text[1:]
    middle = len(text) // 2
    yield text[:middle] + "~" + text[middle + 1 :]
    yield text[:middle] + " " + text[middle:]
    yield from ("!", " ", *_ODD)


def malformed(target: EditTarget) -> Iterator[Edit]:
    """Yield texts that both validators take for no instance of the format."""
    text = target.value if isinstance(target.value, str) else ""
    dialect_name, name = target.compiled.dialect.name, str(target.operand)
    near = [near for near in (text[:-1], text + "!", " " + text) if near != text]
    if name == "regex":
        # Readers without the flag `u` take most of these for patterns.
        near = []
    most, least = target.conjunction.max_length, target.conjunction.min_length
    for other in (*_MALFORMED.get(name, ()), "not a " + name, *near, *_ODD):
        fits = least <= len(other) and (most is None or len(other) <= most)
        if fits and is_malformed(dialect_name, name, other):
            yield other


@lru_cache(maxsize=4096)
def is_malformed(dialect_name: str, name: str, text: str) -> bool:
    """Return whether jsonschema's checker refuses a text as a format."""
    return not PYTHON_VALIDATORS[dialect_name].FORMAT_CHECKER.conforms(text, name)
