"""Where references lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.references.resolution import SchemaDocument, descend, join, legal, scan
from curation.schema.dialects import BY_NAME, DRAFT_04, DRAFT_07, DRAFT_2020_12

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def _found(schema: UntypedJson, dialect: str, uri: str, fragment: str) -> UntypedJson:
    document = SchemaDocument(schema=schema, dialect=BY_NAME[dialect], uri="")
    spot = document.find(uri, fragment)
    return None if spot is None else spot.tokens


@pytest.mark.parametrize(
    ("fragment", "tokens"),
    [
        ("", ()),
        ("/definitions/a", ("definitions", "a")),
        ("/definitions/a%20b", ("definitions", "a b")),
        ("/definitions/a b", ("definitions", "a b")),
        ("/definitions/x~1y", ("definitions", "x/y")),
        ("/definitions/x~0y", ("definitions", "x~y")),
        ("/definitions/x~01y", ("definitions", "x~1y")),
        ("/definitions/50%25", ("definitions", "50%")),
        ("/definitions/caf%C3%A9", ("definitions", "caf\u00e9")),
        ("/definitions/", ("definitions", "")),
        ("/definitions/list/items/1", ("definitions", "list", "items", "1")),
    ],
)
def test_a_pointer_is_decoded_as_the_two_standards_say(
    fragment: str, tokens: tuple[str, ...]
) -> None:
    """Percent signs are decoded first, then `~1` and `~0`."""
    names = ("a", "a b", "x/y", "x~y", "x~1y", "50%", "caf\u00e9", "")
    schema: UntypedJson = {"definitions": {name: {} for name in names}}
    schema["definitions"]["list"] = {"items": [{}, {}]}
    assert _found(schema, "draft-07", "", fragment) == tokens


@pytest.mark.parametrize(
    "fragment", ["/nowhere", "/definitions/b", "/allOf/2", "/allOf/-1", "/type/x", "a"]
)
def test_a_fragment_that_leads_nowhere_is_an_error(fragment: str) -> None:
    """A resource that is there, with nothing under the fragment, is no answer."""
    schema: UntypedJson = {"type": "object", "allOf": [{}], "definitions": {"a": {}}}
    with pytest.raises(LookupError):
        _found(schema, "draft-07", "", fragment)


def test_the_resource_of_another_uri_is_not_in_here() -> None:
    """A document does not answer for documents that it does not hold."""
    assert (
        _found({"$id": "http://a.example/x"}, "draft-07", "http://b.example", "")
        is None
    )


@pytest.mark.parametrize(
    ("dialect", "schema"),
    [
        ("draft-04", {"definitions": {"a": {"id": "#name"}}}),
        ("draft-06", {"definitions": {"a": {"$id": "#name"}}}),
        ("draft-07", {"definitions": {"a": {"$id": "#name"}}}),
        ("2019-09", {"definitions": {"a": {"$anchor": "name"}}}),
        ("2020-12", {"definitions": {"a": {"$anchor": "name"}}}),
        ("2020-12", {"definitions": {"a": {"$dynamicAnchor": "name"}}}),
    ],
)
def test_a_plain_name_is_given_as_each_draft_does(
    dialect: str, schema: UntypedJson
) -> None:
    """Draft-04 names in `id`, draft-06 and draft-07 in `$id`, later in `$anchor`."""
    assert _found(schema, dialect, "", "name") == ("definitions", "a")


def test_an_identifier_changes_the_base_of_what_is_inside() -> None:
    """A reference inside an embedded resource starts from that resource."""
    schema = {
        "$id": "http://a.example/root.json",
        "properties": {"p": {"$id": "sub/inner.json", "items": {"$ref": "#/x"}}},
    }
    found = scan(schema, DRAFT_07, "")
    assert [each.base for each in found.references] == [
        "http://a.example/sub/inner.json"
    ]
    assert found.inner_resources == [("properties", "p")]


def test_a_reference_hides_the_identifier_beside_it_up_to_draft_07() -> None:
    """Draft-07 ignores `$id` beside `$ref`; 2020-12 heeds it."""
    schema = {"properties": {"p": {"$id": "http://b.example/", "$ref": "#/x"}}}
    old = scan(schema, DRAFT_07, "http://a.example/")
    new = scan(schema, DRAFT_2020_12, "http://a.example/")
    assert [old.references[0].base, new.references[0].base] == [
        "http://a.example/",
        "http://b.example/",
    ]


def test_a_property_called_ref_is_no_reference() -> None:
    """`$ref` and `id` under `properties`, `enum` or `default` are names and data."""
    schema = {
        "properties": {"$ref": {"type": "string"}, "id": {"type": "string"}},
        "enum": [{"$ref": "#/nowhere", "id": "http://b.example/"}],
        "default": {"$ref": "#/nowhere"},
    }
    found = scan(schema, DRAFT_04, "")
    assert found.references == []
    assert found.resources == {}


def test_a_pointer_into_an_unknown_word_reaches_what_is_no_place() -> None:
    """The value is found, and is known not to stand in keyword position."""
    document = SchemaDocument(
        schema={"types": {"a": {"type": "string"}}}, dialect=DRAFT_07, uri=""
    )
    spot = descend(document.root, ("types", "a"), DRAFT_07)
    assert spot.value == {"type": "string"}
    assert not spot.is_place


def test_a_fragment_joins_any_base() -> None:
    """A URN has no path that a reference could be relative to, but has fragments."""
    assert join("urn:made:x", "#/a") == ("urn:made:x", "/a")
    assert join("http://a.example/b/c", "../d#e") == ("http://a.example/d", "e")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#/definitions/a b", "#/definitions/a%20b"),
        ("#/definitions/List<String>", "#/definitions/List%3CString%3E"),
        ("#/definitions/50%", "#/definitions/50%25"),
        ("#/definitions/a%20b", "#/definitions/a%20b"),
        ("#/definitions/x~1y", "#/definitions/x~1y"),
        ("#/definitions/caf\u00e9", "#/definitions/caf%C3%A9"),
    ],
)
def test_what_no_uri_may_hold_is_escaped_once(before: str, after: str) -> None:
    """Escaping is idempotent and leads to the same place."""
    assert legal(before) == after
    assert legal(after) == after
