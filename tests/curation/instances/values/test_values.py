"""Numbers and strings: of bounds, multiples, lengths, patterns and formats."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
import regress
from hypothesis import given
from hypothesis import strategies as st

from curation.instances.values import formats
from curation.instances.values.numbers import (
    Number,
    NumberConstraints,
    fits,
    make_number,
)
from curation.instances.values.strings import (
    StringConstraints,
    make_string,
    matches,
    pattern_matches,
)
from curation.instances.values.words import WORDS
from curation.regex.automaton import single
from tests.slow_cases import first_fast

BOUNDS = st.none() | st.one_of(
    st.integers(-1000, 1000),
    st.floats(-1e6, 1e6).map(lambda each: round(each, 3)),
    st.sampled_from([0, 0.1, 1e-9, 2**53, 2**63, -(2**63), 1e22, 1e308, -1e308]),
)
STEPS = st.lists(
    st.sampled_from([1, 2, 7, 0.5, 0.25, 0.1, 0.01, 1e-5, 7.5, 1.0, 100]), max_size=2
)


def as_schema(shape: NumberConstraints) -> dict[str, Any]:
    """Return the schema that says the same."""
    bounds = {
        "minimum": shape.minimum,
        "maximum": shape.maximum,
        "exclusiveMinimum": shape.exclusive_minimum,
        "exclusiveMaximum": shape.exclusive_maximum,
    }
    return {
        "type": "integer" if shape.integer else "number",
        "allOf": [{}, *({"multipleOf": each} for each in shape.multiples)],
        **{name: bound for name, bound in bounds.items() if bound is not None},
    }


@given(
    integer=st.booleans(),
    bounds=st.tuples(BOUNDS, BOUNDS, BOUNDS, BOUNDS),
    steps=STEPS,
    name=st.sampled_from(["", "price", "latitude", "count"]),
    seed=st.integers(0, 20),
)
def test_both_validators_accept_what_is_chosen(
    integer: bool,  # noqa: FBT001 - drawn
    bounds: tuple[Number | None, ...],
    steps: list[Number],
    name: str,
    seed: int,
) -> None:
    """A chosen number is valid for jsonschema-rs and for jsonschema."""
    shape = NumberConstraints(
        integer=integer,
        minimum=bounds[0],
        maximum=bounds[1],
        exclusive_minimum=bounds[2],
        exclusive_maximum=bounds[3],
        multiples=tuple(steps),
        name=name,
    )
    number = make_number(shape, random.Random(seed))
    assert make_number(shape, random.Random(seed)) == number
    if number is not None:
        schema = as_schema(shape)
        assert fits(shape, number)
        assert jsonschema_rs.Draft7Validator(schema).is_valid(number)
        assert jsonschema.Draft7Validator(schema).is_valid(number)


@given(low=st.integers(-(10**20), 10**20), span=st.integers(0, 10**20))
def test_a_range_of_integers_is_never_empty(low: int, span: int) -> None:
    """Between two integers there is one."""
    shape = NumberConstraints(integer=True, minimum=low, maximum=low + span)
    number = make_number(shape, random.Random(span))
    assert number is not None
    assert low <= number <= low + span


@given(low=st.floats(-1e300, 1e300), factor=st.floats(1e-6, 10))
def test_a_range_of_numbers_is_never_empty(low: float, factor: float) -> None:
    """Between two numbers that differ by more than a trifle there is one."""
    high = low + max(abs(low), 1e-3) * factor
    shape = NumberConstraints(exclusive_minimum=low, exclusive_maximum=high)
    assert make_number(shape, random.Random(0)) is not None


@pytest.mark.parametrize("step", [0.01, 0.1, 0.05, 1e-5, 0.3, 1.1])
def test_fractions_are_met_as_floats_divide(step: float) -> None:
    """Multiples of a fraction are found, and not only one."""
    shape = NumberConstraints(minimum=0, multiples=(step,))
    numbers = {make_number(shape, random.Random(seed)) for seed in range(20)}
    assert None not in numbers
    assert len(numbers) > 3


@pytest.mark.parametrize(
    "shape",
    [
        NumberConstraints(minimum=2, maximum=1),
        NumberConstraints(integer=True, exclusive_minimum=1, exclusive_maximum=2),
        NumberConstraints(minimum=1, maximum=4, multiples=(5,)),
        NumberConstraints(exclusive_minimum=3, maximum=3),
    ],
)
def test_an_empty_range_is_none(shape: NumberConstraints) -> None:
    """Where no number is, none is chosen."""
    assert make_number(shape, random.Random(0)) is None


def test_a_single_number_is_found() -> None:
    """The only number of a range is chosen, however it is written."""
    for bound in (0.1, 1e-9, 12345678.9, -7, 1e22):
        shape = NumberConstraints(minimum=bound, maximum=bound)
        assert make_number(shape, random.Random(0)) == bound


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("latitude", -90, 90), ("port", 1024, 49151), ("birthYear", 1990, 2026)],
)
def test_names_of_properties_decide_the_range(name: str, low: int, high: int) -> None:
    """A number is what the property's name says, within its bounds."""
    for seed in range(10):
        number = make_number(NumberConstraints(name=name), random.Random(seed))
        assert number is not None
        assert low <= number <= high
    bound = NumberConstraints(name=name, minimum=10**6)
    assert (make_number(bound, random.Random(0)) or 0) >= 10**6


def test_formats_of_integers_are_respected() -> None:
    """A number of a sized format is within its size where the bounds allow."""
    shape = NumberConstraints(integer=True, format="uint8", minimum=200)
    assert {make_number(shape, random.Random(seed)) for seed in range(99)} <= set(
        range(200, 256)
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


CHECKERS = [
    jsonschema.Draft4Validator.FORMAT_CHECKER,
    jsonschema.Draft6Validator.FORMAT_CHECKER,
    jsonschema.Draft7Validator.FORMAT_CHECKER,
    jsonschema.Draft201909Validator.FORMAT_CHECKER,
    jsonschema.Draft202012Validator.FORMAT_CHECKER,
]
DIALECTS = ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12", ""]
FORMATS = sorted(formats.PATTERNS)


def is_accepted(name: str, text: str) -> bool:
    """Tell whether both validators take a string for one of a format, in any draft."""
    return all(each.conforms(text, name) for each in CHECKERS) and all(
        formats.accepts(name, text, each) for each in DIALECTS
    )


@pytest.mark.parametrize("name", first_fast(7, FORMATS))
def test_samples_are_accepted_in_every_draft(name: str) -> None:
    """Both validators accept strings of a format under each draft."""
    texts = [formats.formatted_text(name, random.Random(seed)) for seed in range(20)]
    assert all(is_accepted(name, text) for text in texts)
    assert len(set(texts)) > 6


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_patterns_of_formats_are_part_of_them(name: str) -> None:
    """What a format's pattern gives is of the format."""
    machine = single(formats.PATTERNS[name])
    assert machine is not None
    texts = [machine.draw(random.Random(seed), 1, 60, 3_000) for seed in range(6)]
    assert all(text is not None and is_accepted(name, text) for text in texts)


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"regex"}))
def test_samples_match_the_pattern_of_their_format(name: str) -> None:
    """What is drawn is within the pattern that stands for the format."""
    expression = regress.Regex(formats.PATTERNS[name], "u")
    for seed in range(10):
        text = formats.formatted_text(name, random.Random(seed))
        assert expression.find(text) is not None, text


@pytest.mark.parametrize(
    "shape",
    [
        StringConstraints(formats=("email",), max_length=7),
        StringConstraints(formats=("email",), min_length=80, max_length=90),
        StringConstraints(formats=("uri",), min_length=300),
        StringConstraints(
            formats=("uri",), patterns=(r"^ftp://.*\.zip$",), max_length=24
        ),
        StringConstraints(formats=("date",), patterns=("^1999-1",)),
        StringConstraints(formats=("date-time",), patterns=("00Z$",), max_length=20),
        StringConstraints(formats=("ipv4",), patterns=(r"^10\.",)),
        StringConstraints(formats=("uuid",), patterns=("^[A-F]{3}",), name="id"),
        StringConstraints(formats=("hostname",), patterns=(r"\.no$",)),
        StringConstraints(formats=("uri", "uri-reference"), not_patterns=("https",)),
        StringConstraints(formats=("time",), not_patterns=("Z$",)),
        StringConstraints(formats=("regex",), min_length=12),
    ],
)
def test_formats_go_with_patterns_and_lengths(shape: StringConstraints) -> None:
    """A string of a format that must meet more is still accepted by both."""
    for seed in range(5):
        text = make_string(shape, random.Random(seed))
        assert text is not None
        assert len(text) >= shape.min_length
        assert shape.max_length is None or len(text) <= shape.max_length
        assert all(is_accepted(name, text) for name in shape.formats)
        assert all(regress.Regex(each, "u").find(text) for each in shape.patterns)
        assert not any(
            regress.Regex(each, "u").find(text) for each in shape.not_patterns
        )


def test_formats_that_no_string_has_together_give_none() -> None:
    """A date that is an address does not exist."""
    shape = StringConstraints(formats=("date", "email"))
    assert make_string(shape, random.Random(0)) is None


def test_unknown_words_are_hints() -> None:
    """A format that no draft defines says what is written, but refuses nothing."""
    assert "." in (
        make_string(StringConstraints(formats=("semver",)), random.Random(0)) or ""
    )
    assert make_string(
        StringConstraints(formats=("no-such",), max_length=3), random.Random(0)
    )


def test_a_regex_that_python_cannot_hold_is_refused() -> None:
    """`re`, which jsonschema asks, counts no repetition so large."""
    assert not formats.accepts_twice("regex", "a{4294967296}")
    assert formats.accepts_twice("regex", "a{42}")
