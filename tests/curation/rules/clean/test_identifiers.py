"""Identifiers in rule set `clean`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Document, Reason, Rejected
from curation.rules.clean import identifiers, is_uri_reference, usable
from tests.curation.judges import rust_accepts
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#",
        "#name",
        "a/b",
        "../a?b#c",
        "//host/a",
        "http://user@host:80/a",
        "http://[::1]/a",
        "urn:made:a",
        "/properties/a",
        "a%20b",
    ],
)
def test_a_uri_reference_is_left_alone(text: str) -> None:
    """All the forms of RFC 3986."""
    assert is_uri_reference(text)
    assert usable(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a b", "a%20b"),
        ("{host}/x", "%7Bhost%7D/x"),
        ("POST /a", "POST%20/a"),
        ("50%", "50%25"),
        ("a[0]", "a%5B0%5D"),
        ("\u00e9", "%C3%A9"),
        ("a\\b", "a%5Cb"),
    ],
)
def test_what_a_uri_cannot_hold_is_escaped(before: str, after: str) -> None:
    """The identifier stays readable, and validators accept it."""
    assert usable(before) == after
    schema = {"$id": after, "items": {"$ref": "#/x"}, "x": {"type": "null"}}
    assert rust_accepts(schema, [None], "draft-07")


@pytest.mark.parametrize("text", ["1a:b", "a b:c", "#a#b", "http://a:b/"])
def test_what_escaping_cannot_save_is_hopeless(text: str) -> None:
    """A first segment with a colon, two fragments, a port of letters."""
    assert usable(text) is None


@given(st.text(max_size=20))
def test_escaping_is_idempotent(text: str) -> None:
    """Whatever the text, the result is a URI reference or there is none."""
    result = usable(text)
    assert result is None or (is_uri_reference(result) and usable(result) == result)


@pytest.mark.parametrize(
    ("dialect", "word", "other"), [("draft-04", "id", "$id"), ("draft-07", "$id", "id")]
)
def test_only_the_dialects_own_keyword_is_an_identifier(
    dialect: str, word: str, other: str
) -> None:
    """And only in keyword position."""
    schema: UntypedJson = {
        word: "a b",
        other: "c d",
        "properties": {word: {"type": "string", word: "e f"}},
        "enum": [{word: "g h"}],
    }
    result = identifiers.apply(document(schema, dialect=dialect), CONTEXT)
    assert isinstance(result, Document)
    assert result.schema == {
        word: "a%20b",
        other: "c d",
        "properties": {word: {"type": "string", word: "e%20f"}},
        "enum": [{word: "g h"}],
    }
    assert len(result.changes) == 2


def test_a_hopeless_identifier_ends_the_record() -> None:
    """The reason is `bad_identifier`."""
    result = identifiers.apply(document({"$id": "1:2 3"}, dialect="draft-07"), CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.BAD_IDENTIFIER
