"""Credentials: found, and never repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Reason, Rejected
from curation.lint.credentials import find_credential
from curation.rules import clean
from curation.system.credentials import FORMATS
from tests.credential_examples import LETTERS, MIXED, examples
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import Json


def test_every_format_has_an_example_here() -> None:
    """A format that is added is tested too."""
    assert set(examples()) == {each.name for each in FORMATS}


@pytest.mark.parametrize("name", sorted(examples()))
def test_each_format_is_found_anywhere(name: str) -> None:
    """In a description, deep in data, as a name, between other words."""
    secret = examples()[name]
    cases: list[tuple[Json, str]] = [
        ({"description": f"use {secret} here"}, "/description"),
        ({"examples": [{"a": ["x", secret]}]}, "/examples/0/a/1"),
        ({"properties": {secret: {}}}, "/properties"),
        ({"a/b": {"~": f"key='{secret}'", "big": 2**70}}, "/a~1b/~0"),
    ]
    for schema, pointer in cases:
        found = find_credential(schema)
        assert found is not None
        assert (found.format, found.pointer) == (name, pointer)


@pytest.mark.parametrize("name", sorted(examples()))
def test_the_value_is_never_repeated(name: str) -> None:
    """The rejection names the format and the place only."""
    secret = examples()[name]
    made = document({"properties": {secret: {"default": secret}}})
    result = clean.secret.apply(made, CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.SECRET
    assert name in result.detail
    assert secret[8:] not in repr(result)


@pytest.mark.parametrize(
    "text",
    [
        "AK" + "IA" + "IOSFODNN7EXAMPLE",
        "gh" + "p_" + "x" * 36,
        "gh" + "p_" + "A" * 36,
        "AI" + "za" + "X" * 35,
        "h" + "f_" + "yourtokenyourtokenyourtokenyourtok",
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        "a PRIVATE KEY in PEM format",
        "^gh[pousr]_[A-Za-z0-9]{36}$",
        "prefix" + "AK" + "IA" + LETTERS[:16],
        "AK" + "IA" + LETTERS[:20],
        "eyJ.eyJ.x",
        "sk_test_" + MIXED[:24],
    ],
)
def test_placeholders_and_near_misses_are_no_credentials(text: str) -> None:
    """Documented examples, repeated characters, patterns, longer words."""
    assert find_credential({"description": text}) is None


@given(
    st.recursive(
        st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_ordinary_text_is_no_credential(value: Json) -> None:
    """Nothing crashes on any text, and chance makes no credential."""
    assert find_credential(value) is None


def test_a_key_of_nothing_but_headers_is_read_to_its_end() -> None:
    """Each could end at any of its spaces: tried in every way, they take years."""
    text = "-----BEGIN " + "PRIVATE KEY-----\n" + "a: " * 2_000
    assert find_credential(text) is None
    assert find_credential(text + "\n" + MIXED) is not None


@pytest.mark.parametrize(
    ("name", "beginnings"),
    [
        ("JSON web token", ("-eyJ" + "a" * 116) * 5_000),
        ("OpenAI key", "-sk-" * 150_000 + " T3Blbk" + "FJ"),
    ],
    ids=["JSON web token", "OpenAI key"],
)
def test_a_text_of_nothing_but_beginnings_is_read_to_its_end(
    name: str, beginnings: str
) -> None:
    """A text may have any length: read to its end from each, it takes minutes."""
    found = find_credential(f"{beginnings} {examples()[name]}")
    assert found is not None
    assert found.format == name


def test_credentials_as_long_as_they_are_issued_are_found() -> None:
    """A key of a project, and a token with an address list and hundreds of claims."""
    key = "s" + "k-proj-" + MIXED[:70] + "_-9T3Blbk" + "FJ" + MIXED[:70] + "_-8A"
    token = ".".join(("ey" + "J" + MIXED * 20, "ey" + "J" + MIXED * 200, MIXED * 8))
    for name, secret in {"OpenAI key": key, "JSON web token": token}.items():
        found = find_credential({"description": f"use {secret} here"})
        assert found is not None
        assert found.format == name
