"""Tests of numbers with their nouns."""

from __future__ import annotations

import pytest

from curation.system.words import counted


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "schema", "1 schema"),
        (0, "schema", "0 schemas"),
        (2, "URL with a password", "2 URLs with a password"),
        (1_000, "e-mail address", "1,000 e-mail addresses"),
    ],
)
def test_a_number_has_its_noun(number: int, noun: str, text: str) -> None:
    """One schema is no "1 schemas", and what is plural is the noun."""
    assert counted(number, noun) == text
