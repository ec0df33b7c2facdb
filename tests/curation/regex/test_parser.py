"""Patterns: reading them, making strings of them, and deciding them."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

import pytest
import regress
from hypothesis import assume, given
from hypothesis import strategies as st

from curation.instances.values.pattern_samples import draw_text
from curation.regex import parser
from curation.regex.automaton import automaton, matches_nothing, single

if TYPE_CHECKING:
    from collections.abc import Iterator


LITERALS = st.sampled_from(
    ["a", "b", "-", "[ab]", "[^a]", ".", r"\w", r"\d", r"\s", r"[\w-]", r"\x41", "é"]
)
ASSERTIONS = st.sampled_from(["^", "$", r"\b", r"\B"])
QUANTIFIERS = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "{0}"])


def trees(atoms: st.SearchStrategy[str], *, looks: bool) -> st.SearchStrategy[str]:
    """Return patterns made of atoms."""

    def wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        ways = [
            st.lists(inner, min_size=1, max_size=3).map("".join),
            st.lists(inner, min_size=2, max_size=3).map("|".join).map("(?:{})".format),
            inner.map("({})".format),
            st.builds("(?:{}){}".format, inner, QUANTIFIERS),
        ]
        if looks:
            opening = st.sampled_from(["(?=", "(?!", "(?<=", "(?<!"])
            ways.append(st.builds("{}{})".format, opening, inner))
        return st.one_of(ways)

    return st.recursive(atoms, wider, max_leaves=8)


PLAIN = trees(LITERALS, looks=False)
ANY = trees(st.one_of(LITERALS, ASSERTIONS), looks=True)
TEXTS = st.text(alphabet="abA-1 é\n", max_size=7)


@given(pattern=PLAIN, seed=st.integers(0, 99))
def test_what_is_made_of_a_plain_pattern_matches(pattern: str, seed: int) -> None:
    """A string made of a pattern without assertions matches as a whole."""
    tree = parser.parse(pattern)
    assert tree is not None
    assert tree.sure
    text = draw_text(tree, random.Random(seed))
    assert text is not None
    assert regress.Regex(f"^(?:{pattern})$", "u").find(text) is not None


@given(pattern=PLAIN, want=st.integers(0, 30))
def test_lengths_are_within_the_bounds_of_the_tree(pattern: str, want: int) -> None:
    """The bounds of a tree hold for what is made of it."""
    tree = parser.parse(pattern)
    assert tree is not None
    text = draw_text(tree, random.Random(want), want)
    assert text is not None
    assert tree.root.low <= len(text)
    assert tree.root.high is None or len(text) <= tree.root.high


@given(pattern=ANY, text=TEXTS)
def test_the_automaton_decides_as_the_engine_does(pattern: str, text: str) -> None:
    """A text is accepted if and only if regress finds the pattern in it.

    But for patterns that look ahead from behind, which the automaton says.
    """
    machine = single(pattern)
    assert machine is not None
    assume(machine.exact)
    found = regress.Regex(pattern, "u").find(text) is not None
    assert machine.accepts(text) == found


@given(wanted=st.lists(ANY, max_size=2), refused=st.lists(ANY, max_size=2))
def test_a_walk_meets_all_patterns_at_once(
    wanted: list[str], refused: list[str]
) -> None:
    """What a walk finds matches what is wanted and nothing that is refused."""
    machine = automaton(tuple(wanted), tuple(refused))
    assert machine is not None
    assume(machine.exact)
    text = machine.draw(random.Random(0), 0, 12, 300)
    assume(text is not None)
    assert text is not None
    assert all(regress.Regex(each, "u").find(text) for each in wanted)
    assert not any(regress.Regex(each, "u").find(text) for each in refused)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^([ab]+)-\1$",
        r"^(?<word>[a-c]{3}) \k<word>$",
        r"^\p{Lu}\p{Script=Greek}+\P{L}$",
        r"^\ud83d\ude00[\u{1F601}-\u{1F64F}]$",
        r"^\u{48}\x49\cJ\0[\b\-\]]$",
        r"^[^]*$",
        r"^a{2,}?(?:b|c)*?$",
        "^(?:x{0,1000}){0,1000}y$",
    ],
)
def test_every_construct_is_read(pattern: str) -> None:
    """References, properties, escapes and lazy quantifiers give strings that match."""
    tree = parser.parse(pattern)
    assert tree is not None
    expression = regress.Regex(pattern, "u")
    texts = [draw_text(tree, random.Random(seed)) for seed in range(10)]
    assert all(text is not None and expression.find(text) for text in texts)
    assert len(set(texts)) > 1


@pytest.mark.parametrize("pattern", ["(", "a**", "(" * 300 + ")" * 300, "(?i:a)"])
def test_what_cannot_be_read_is_none(pattern: str) -> None:
    """Broken patterns, deep ones and modifiers give no tree."""
    assert parser.parse(pattern) is None


def test_the_lenient_grammar_is_read_in_its_strict_spelling() -> None:
    """A pattern that is valid without the flag only means what it meant."""
    tree = parser.parse(r"^\-a{$")
    assert tree is not None
    assert draw_text(tree, random.Random(0)) == "-a{"


@pytest.mark.parametrize(
    ("wanted", "refused"),
    [
        ((r"^(?=.*[A-Z])(?=.*\d)(?=.*[^\w\s]).{12,}$",), ()),
        (("^[a-z]*$", "xyz"), ("^x",)),
        (("^.{3}$", r"\bon$"), ()),
        ((r"(?<=foo)bar",), ("^f",)),
        ((r"^((?!tmp).)*\.txt$",), ("a",)),
    ],
)
def test_a_walk_finds_what_filtering_would_not(
    wanted: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    """Intersections, look-around and refused patterns are met by construction."""
    machine = automaton(wanted, refused)
    assert machine is not None
    text = machine.draw(random.Random(1), 0, None, 3_000)
    assert text is not None
    assert all(regress.Regex(each, "u").find(text) for each in wanted)
    assert not any(regress.Regex(each, "u").find(text) for each in refused)


def test_a_contradiction_ends_the_walk() -> None:
    """Where nothing can match there is no string, and soon."""
    machine = automaton(("^[a-z]+$", "^[0-9]+$"), ())
    assert machine is not None
    assert machine.draw(random.Random(0), 0, None, 3_000) is None


def test_exponential_patterns_are_decided_in_linear_time() -> None:
    """A text on which backtracking would never end is refused at once."""
    machine = single("^(a+)+$")
    assert machine is not None
    assert not machine.accepts("a" * 5_000 + "b")
    assert machine.accepts("a" * 5_000)
    parsed = parser.parse("^(a+)+$")
    assert parsed is not None
    assert parsed.safe == 0


@pytest.fixture
def deep() -> Iterator[None]:
    """Let a test recurse beyond what pytest leaves of the stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("deep")
@pytest.mark.parametrize(("group", "count"), [("(a?b?)?", 30), ("(a*)*", 16)])
def test_groups_in_a_row_that_may_be_empty_are_decided(group: str, count: int) -> None:
    """Each doubled the work where a repetition was left and entered anew."""
    machine = single(f"^{group * count}$")
    assert machine is not None
    assert machine.accepts("a" * 10)
    assert not machine.accepts("a" * 10 + "c")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^(?:b|(?=a)){2}$", "b"),
        (r"^(?:b|(?=a)){2}$", "bb"),
        (r"^(?:,|$){2}$", ","),
        (r"^(?:[a-z]|\b){3}$", "a"),
        (r"^(?:x|(?=y)){3}y$", "xy"),
    ],
)
def test_what_may_be_empty_in_one_place_alone_counts_each_time(
    pattern: str, text: str
) -> None:
    """A body with an assertion is not empty wherever it is repeated."""
    machine = single(pattern)
    assert machine is not None
    found = regress.Regex(pattern, "u").find(text) is not None
    assert machine.accepts(text) == found


def test_the_history_of_an_automaton_changes_nothing() -> None:
    """A walk depends on the draw alone, not on the walks before it."""
    fresh = automaton.__wrapped__(("^[a-z]+$", "q.*z"), ("zz",))
    used = automaton.__wrapped__(("^[a-z]+$", "q.*z"), ("zz",))
    assert used is not None
    for seed in range(20):
        used.draw(random.Random(seed), 0, 9, 500)
    assert fresh is not None
    expected = fresh.draw(random.Random(77), 0, None, 3_000)
    assert used.draw(random.Random(77), 0, None, 3_000) == expected


@pytest.mark.parametrize(
    ("pattern", "nothing"),
    [
        ("/^[A-Z0-9]{10}$/", True),
        ("a^", True),
        ("^a$b", True),
        ("[]", True),
        ("(?=a)b", True),
        ("^(?!.*a)a", True),
        (r"\w\b\w", True),
        ("^$", False),
        ("x*^", False),
        ("(a|b^)", False),
        (r"^(?=.*[A-Z])(?=.*\d).{8,}$", False),
        # A back-reference is read as its group: nothing is claimed.
        (r"^(a)(?!\1|b)[ab]$", False),
    ],
)
def test_that_nothing_matches_is_proven(pattern: str, nothing: bool) -> None:  # noqa: FBT001 (a row of a table)
    """Without back-references the automaton decides; where it does not, it is quiet."""
    assert matches_nothing(pattern) is nothing
