"""Patterns: judged by ECMA-262, repaired where the meaning is one."""

from __future__ import annotations

import pytest
import regress
from hypothesis import given
from hypothesis import strategies as st

from curation.validation.patterns import (
    LONGEST,
    is_ecma,
    is_prone,
    is_readable,
    pattern_verdict,
    repaired,
)


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        r"^[a-z]+$",
        r"\d\D\w\W\s\S\b\B",
        r"(?:a|b){2,3}?",
        r"(?=a)a(?!b)",
        r"(?<=a)b",
        r"[\-a]",
        r"\/\^\$",
        r"\p{Lu}",
        "\u00e9\U0001f600",
    ],
)
def test_what_the_strict_grammar_allows_stays(pattern: str) -> None:
    """A pattern that is fine is returned as it is."""
    assert pattern_verdict(pattern).pattern == pattern


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"\-", "-"),
        (r"\_\@\:\ \"", '_@: "'),
        (r"[\_\@\-]", r"[_@\-]"),
        (r"{{.+}}", r"\{\{.+\}\}"),
        (r"a]", r"a\]"),
        (r"x{1..2}", r"x\{1..2\}"),
        (r"[\w-.]", r"[\w\-.]"),
        (r"[+-\d]", r"[+\-\d]"),
        (r"[\s-a-z]", r"[\s\-a\-z]"),
        (r"[\w-.-_]", r"[\w\-.\-_]"),
        (r"[\s--z]", r"[\s\-\-z]"),
        (r"\01", r"\x01"),
        (r"[^\0]", r"[^\x00]"),
        (r"[\b]", r"[\x08]"),
        (r"\cJ", r"\x0a"),
        (r"[^]", r"[\s\S]"),
        (r"(?<year>\d{4})", r"(\d{4})"),
        (r"(?P<year>\d{4})", r"(\d{4})"),
        (r"\u{61}", r"\u0061"),
        (r"^[[a-z]*]*$", r"^[\[a-z]*\]*$"),
    ],
)
def test_the_looser_grammar_is_said_in_the_strict_one(
    pattern: str, expected: str
) -> None:
    """Each repair of the description, on its own."""
    assert pattern_verdict(pattern).pattern == expected
    assert is_ecma(expected)
    assert is_readable(expected)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [(r"(?=a)*b", r"(?:(?=a))*b"), (r"(?!a){2}b", r"(?:(?!a)){2}b")],
)
def test_a_repeated_look_ahead_gets_a_group(pattern: str, expected: str) -> None:
    """Strict ECMA repeats groups only; jsonschema-rs reads neither spelling."""
    assert pattern_verdict(pattern).pattern == expected
    assert is_ecma(expected)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\Aabc\Z",
        r"\z",
        r"\h",
        r"(?i)abc",
        r"(?#comment)",
        r"a++",
        r"(?>a)",
        r"*",
        r"^*$",
        r"a**",
        r"(",
        r")",
        r"[",
        r"[b-a]",
        "\\",
        r"a{,5}",
        r"a{2,1}",
        r"\k<n>-",
        r"(?P=n)",
        r"\u{110000}",
        r"[\B]",
        r"\8",
        "\ud800",
        "a" * (LONGEST + 1),
    ],
)
def test_what_cannot_be_told_is_not_repaired(pattern: str) -> None:
    """Python's own syntax and broken texts have no repair, and a reason."""
    verdict = pattern_verdict(pattern)
    assert verdict.pattern is None
    assert verdict.note


def test_a_name_that_is_referred_to_is_kept() -> None:
    """Dropping it would change what the back reference means."""
    assert pattern_verdict(r"(?<q>['a])\w+\k<q>").pattern == r"(?<q>['a])\w+\k<q>"


_PIECES = st.sampled_from(
    [
        *"abc-_:@ .{}],",
        r"\-",
        r"\_",
        r"\ ",
        r"\:",
        r"\d",
        r"\w",
        r"\.",
        r"\/",
        r"\0",
        r"\x41",
        r"[\_a]",
        r"[a-c]",
        r"[\w-:]",
        r"[\s-a-c]",
        r"[\w-.-_]",
        r"[\s--b]",
        r"[[a]",
        r"[^\-]",
        "(a|b)",
        "(?:-)",
        "(?=a)",
        "(?=a)*",
        "(?<n>c)",
        "*",
        "?",
        "+?",
        "{2}",
        "{1,}",
        "{,2}",
        "^",
        "$",
        "|",
    ]
)
_TEXTS = st.text(alphabet="abc-_:@ .{}],09\x00[\n", max_size=8)


@given(st.lists(_PIECES, min_size=1, max_size=6), st.lists(_TEXTS, min_size=8))
def test_a_repaired_pattern_matches_what_the_loose_one_matched(
    pieces: list[str], texts: list[str]
) -> None:
    """An ECMA engine without the flag agrees with itself under the flag."""
    pattern = "".join(pieces)
    result = repaired(pattern)
    if result is None:
        return
    assert is_ecma(result)
    loose, strict = regress.Regex(pattern), regress.Regex(result, "u")
    for text in texts:
        assert (loose.find(text) is None) is (strict.find(text) is None)
    assert repaired(result) == result


@given(st.text(max_size=30))
def test_any_text_has_a_verdict(pattern: str) -> None:
    """Whatever stands there, nothing crashes, and a kept pattern is strict."""
    verdict = pattern_verdict(pattern)
    assert verdict.pattern is None or is_ecma(verdict.pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(a+)+$",
        r"^(a*)*$",
        r"(\w+|-)*",
        r"^([^/ ]+(/)?)+$",
        r"((a+)b?)+",
        r"(?:x*){2,}",
        r"([a-z]*)*",
    ],
)
def test_nested_repetitions_are_prone(pattern: str) -> None:
    """A repetition whose body can be one bare repetition backtracks for ever."""
    assert is_prone(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[a-z]+$",
        r"^([a-z]+\.)+$",
        r"^(a{1,3})+$",
        r"(ab*)*",
        r"(\/?([a-z]*)($|\/))*",
        r"((a)+)?",
        r"[(a+)+]",
        r"\(a+\)+",
        r"(?=(a+))",
        "(" * 1000,
        "",
    ],
)
def test_what_is_not_surely_prone_is_left_alone(pattern: str) -> None:
    """A separator, a bound or an anchor makes an end of it."""
    assert not is_prone(pattern)
