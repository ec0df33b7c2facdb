"""Strings of formats, as every validator and draft judges them."""

from __future__ import annotations

import random

import jsonschema
import pytest
import regress

from curation.instances.regex.automaton import single
from curation.instances.values import formats
from curation.instances.values.strings import StringConstraints, make_string

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


@pytest.mark.parametrize("name", FORMATS)
def test_samples_are_accepted_in_every_draft(name: str) -> None:
    """Both validators accept strings of a format under each draft."""
    texts = [formats.formatted_text(name, random.Random(seed)) for seed in range(20)]
    assert all(is_accepted(name, text) for text in texts)
    assert len(set(texts)) > 6


@pytest.mark.parametrize("name", FORMATS)
def test_patterns_of_formats_are_part_of_them(name: str) -> None:
    """What a format's pattern gives is of the format."""
    machine = single(formats.PATTERNS[name])
    assert machine is not None
    texts = [machine.draw(random.Random(seed), 1, 60, 3_000) for seed in range(15)]
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
