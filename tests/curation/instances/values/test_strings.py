"""Strings of lengths, patterns and formats."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.instances.regex.words import WORDS
from curation.instances.values.strings import (
    StringConstraints,
    make_string,
    matches,
    pattern_matches,
)

PATTERNS = [
    "^[a-z]+$",
    "^x-",
    r"\.json$",
    r"^\d{4}-\d{2}$",
    "^(?!tmp)[a-z-]+$",
    r"^\S+@\S+\.\S+$",
    "^(a|b|cc)*$",
    r"^https?://",
    ".",
]


@given(
    bounds=st.tuples(st.integers(0, 30), st.none() | st.integers(30, 60)),
    patterns=st.lists(st.sampled_from(PATTERNS), max_size=2),
    refused=st.lists(st.sampled_from(PATTERNS), max_size=1),
    name=st.sampled_from(["", "email", "firstName", "created_at", "id", "x"]),
    seed=st.integers(0, 50),
)
def test_what_is_chosen_is_of_the_shape(
    bounds: tuple[int, int | None],
    patterns: list[str],
    refused: list[str],
    name: str,
    seed: int,
) -> None:
    """A chosen string matches its shape, and the same seed gives the same string."""
    shape = StringConstraints(
        min_length=bounds[0],
        max_length=bounds[1],
        patterns=tuple(patterns),
        not_patterns=tuple(refused),
        name=name,
    )
    text = make_string(shape, random.Random(seed))
    if text is not None:
        assert matches(shape, text)
    assert make_string(shape, random.Random(seed)) == text


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_gives_several_strings(pattern: str) -> None:
    """Other draws give other strings, with and without bounds."""
    for shape in (
        StringConstraints(patterns=(pattern,)),
        StringConstraints(patterns=(pattern,), min_length=5, max_length=12),
    ):
        texts = {make_string(shape, random.Random(seed)) for seed in range(12)}
        assert None not in texts
        assert len(texts) > 3


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("email", "@"),
        ("contactEmail", "@"),
        ("homepage_url", "https://"),
        ("birthDate", "-"),
        ("fullName", " "),
        ("version", "."),
    ],
)
def test_names_of_properties_decide_what_is_written(name: str, part: str) -> None:
    """Where nothing else is asked, a string is what the property's name says."""
    text = make_string(StringConstraints(name=name), random.Random(4))
    assert text is not None
    assert part in text


def test_free_texts_are_of_every_kind_now_and_then() -> None:
    """Other scripts, pairs of surrogates, escapes, and long ones; most are words."""
    rng = random.Random(0)
    texts = [make_string(StringConstraints(), rng) or "" for _ in range(1_000)]
    assert 850 < sum(text.isascii() and text.isprintable() for text in texts) < 960
    assert any(character > "\uffff" for text in texts for character in text)
    assert any("\u0370" < text[0] <= "\uffff" for text in texts)
    assert any('"' in text for text in texts)
    assert any("\n" in text for text in texts)
    assert any(len(text) > 256 for text in texts)
    hinted = StringConstraints(formats=("url",))
    texts = [make_string(hinted, rng) or "" for _ in range(200)]
    assert all(text.startswith("https://") for text in texts)


def test_unmatched_patterns_get_near_relatives() -> None:
    """What must not match is mostly a small change of what would."""
    shape = StringConstraints(not_patterns=(r"^item-\d+$",))
    texts = [make_string(shape, random.Random(seed)) or "" for seed in range(20)]
    assert not any(pattern_matches(r"^item-\d+$", text) for text in texts)
    assert sum("tem" in text for text in texts) > 5


@pytest.mark.parametrize(
    "shape",
    [
        StringConstraints(patterns=("^(a+)+$",), min_length=60),
        StringConstraints(patterns=("^(a|aa)+b$", "^a{40}")),
        StringConstraints(patterns=("^a{1,100000}$",), min_length=99_999),
        StringConstraints(patterns=("(a?){50}a{50}",)),
        StringConstraints(patterns=("^(.*)(.*)(.*)(.*)x$",), min_length=3_000),
        StringConstraints(patterns=("^" + "(a?b?)?" * 60 + "$",)),
        StringConstraints(patterns=("a", "b"), min_length=100_000),
        StringConstraints(max_length=10**9),
        StringConstraints(min_length=10**6),
    ],
)
def test_hostile_shapes_are_answered(shape: StringConstraints) -> None:
    """Exponential patterns and giant bounds give strings of their shape."""
    text = make_string(shape, random.Random(0))
    assert text is not None
    assert matches(shape, text)


@pytest.mark.parametrize(
    "shape",
    [
        StringConstraints(min_length=2, max_length=1),
        StringConstraints(min_length=10**7 + 1),
        StringConstraints(patterns=("(",)),
        StringConstraints(patterns=("[]",)),
        StringConstraints(patterns=("^((a{1,1000}){1000}){2000}$",)),
        StringConstraints(patterns=("^a$",), not_patterns=("a",)),
        StringConstraints(patterns=("^.*a.{60}$", "^.*b.{60}$")),
        StringConstraints(patterns=("^[a-z]{5}$",), max_length=4),
        StringConstraints(not_patterns=("",)),
    ],
)
def test_no_string_is_none(shape: StringConstraints) -> None:
    """Contradictions, broken patterns and what is too large give nothing."""
    assert make_string(shape, random.Random(0)) is None


def test_long_texts_are_judged_without_backtracking() -> None:
    """A text that would hang the engine is refused, whoever wrote it."""
    assert not pattern_matches("^(a+)+$", "a" * 300 + "!")
    assert not pattern_matches(r"^(.*)(.*)(.*)(.*)(.*)x$", "a" * 300)


def test_words_are_words() -> None:
    """No word is in the list twice."""
    ordered = sorted(WORDS)
    assert all(first != second for first, second in pairwise(ordered))


def test_constraints_are_told_in_words() -> None:
    """What the ledger says where no string is known names no class of ours."""
    asked = StringConstraints(
        min_length=2, max_length=3, patterns=("^a",), not_patterns=("b$",)
    )
    assert str(asked) == "2 to 3 characters, pattern ^a, not pattern b$"
    assert str(StringConstraints(formats=("uuid",))) == (
        "0 or more characters, format uuid"
    )


def test_no_string_is_drawn_for_a_pattern_that_is_refused_too() -> None:
    """Nothing is tried, where every draw would be refused."""
    rng = random.Random(3)
    before = rng.getstate()
    constraints = StringConstraints(patterns=("^a+$", "^x"), not_patterns=("^a+$",))
    assert make_string(constraints, rng) is None
    assert rng.getstate() == before
