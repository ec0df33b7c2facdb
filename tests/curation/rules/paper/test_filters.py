"""The paper rules that only drop: templates, bad schemas, references, identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Document, Reason, Rejected
from curation.rules.paper import (
    bad_identifier,
    check_schema,
    empty,
    remote_reference,
    template,
)
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

DRAFT_04 = "http://json-schema.org/draft-04/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize(
    "schema",
    [
        {"title": "${name}"},
        {"properties": {"${key}": {}}},
        {"enum": [{"deep": ["a ${b"]}]},
        {"minimum": 10**30, "title": "${"},
    ],
)
def test_a_placeholder_anywhere_drops_a_document(schema: UntypedJson) -> None:
    """`${` in any text or name is a template, with the text around it told."""
    ended = template.apply(document(schema), CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.TEMPLATE
    assert "${" in ended.detail


@pytest.mark.parametrize(
    "schema", [{"title": "$ {name}"}, {"pattern": "^$|{"}, {"a$": {"b": 1}}, True]
)
def test_a_dollar_and_a_brace_apart_are_no_placeholder(schema: UntypedJson) -> None:
    """Only the two characters side by side, inside one text, are a template."""
    given = document(schema)
    assert template.apply(given, CONTEXT) is given


def test_the_detail_of_a_template_survives_a_cut_character() -> None:
    """The text shown is cut at bytes, and half a character is left out."""
    given = document({"title": "é" * 60 + "${" + "é" * 60})
    ended = template.apply(given, CONTEXT)
    assert isinstance(ended, Rejected)
    assert "é${é" in ended.detail


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"items": [{}]}, "/items"),
        ({"exclusiveMinimum": True}, "/exclusiveMinimum"),
        ({"properties": {"a": {"$id": "#a"}}}, "/properties/a/$id"),
        ({"examples": "no list"}, "/examples"),
        ({"$ref": "not a reference"}, "/$ref"),
        ({"pattern": "["}, "/pattern"),
        ([], "(root)"),
    ],
)
def test_what_2020_12_refuses_is_dropped(schema: UntypedJson, place: str) -> None:
    """The declared draft does not count, and the detail begins with the place."""
    if isinstance(schema, dict):
        schema = {"$schema": DRAFT_04, **schema}
    ended = check_schema.apply(document(schema), CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.INVALID_SCHEMA
    assert ended.detail.startswith(f"{place}: ")


def test_what_2020_12_accepts_passes() -> None:
    """Unknown words and draft-04 habits that 2020-12 ignores are no errors."""
    given = document({"$schema": DRAFT_04, "id": "#x", "additionalItems": 7})
    assert check_schema.apply(given, CONTEXT) is given


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": "object"},
        {"type": "object", "additionalProperties": False, "title": "nothing"},
        {"about": {"type": "string"}},
        {"$schema": DRAFT_04, "definitions": {}},
    ],
)
def test_a_root_that_asks_nothing_is_dropped(schema: UntypedJson) -> None:
    """A type of object alone, and words inside unknown words, ask nothing."""
    ended = empty.apply(document(schema), CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.EMPTY


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {}},
        {"type": "string"},
        {"type": ["object", "null"]},
        {"items": False},
        {"minProperties": 0},
        {"additionalProperties": {}},
    ],
)
def test_a_root_with_an_applying_word_is_not_empty(schema: UntypedJson) -> None:
    """It is the word that counts, not whether it restricts anything."""
    given = document(schema)
    assert empty.apply(given, CONTEXT) is given


@pytest.mark.parametrize("ref", ["other.json", "https://x.test/a#/b", "a#b", ""])
def test_a_reference_that_is_no_bare_fragment_drops_a_document(ref: str) -> None:
    """Even an empty reference, or one inside a combination, is not local."""
    given = document({"properties": {"a": {"anyOf": [{"$ref": ref}]}}})
    ended = remote_reference.apply(given, CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.REMOTE_REFERENCE
    assert ended.detail == f"/properties/a/anyOf/0/$ref refers to {ref}"


def test_local_references_pass() -> None:
    """A fragment, and a property that is called `$ref`, are no remote references."""
    given = document(
        {
            "$ref": "#/definitions/a",
            "definitions": {"a": {}},
            "properties": {"$ref": {}},
        }
    )
    assert remote_reference.apply(given, CONTEXT) is given


@pytest.mark.parametrize(
    "schema",
    [
        {"id": "http://x.test/a#b"},
        {"$id": "urn:x:a#b"},
        {"properties": {"a": {"id": "http://x.test/a#b/c"}}},
    ],
)
def test_a_fragment_in_an_absolute_identifier_drops_a_document(
    schema: UntypedJson,
) -> None:
    """Any fragment at the root, one with a slash below."""
    given = document({"$schema": DRAFT_04, **schema})
    ended = bad_identifier.apply(given, CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.BAD_IDENTIFIER


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_04, "id": "http://x.test/a#"},
        {"$schema": DRAFT_04, "id": "#a/b"},
        {"$schema": DRAFT_04, "items": {"id": "http://x.test/a#b"}},
        {"$schema": DRAFT_2020, "id": "http://x.test/a#b/c"},
        {"id": "http://x.test/a#b/c"},
    ],
)
def test_other_identifiers_pass(schema: UntypedJson) -> None:
    """Empty and relative ones, anchors, and those of newer or no stated draft."""
    given = document(schema)
    assert bad_identifier.apply(given, CONTEXT) is given


def test_every_rejection_states_a_reason_that_its_rule_lists() -> None:
    """What `csbdata explain` says a rule rejects for is what it rejects for."""
    for rule, schema in (
        (template, {"title": "${"}),
        (check_schema, {"type": "thing"}),
        (empty, {}),
        (remote_reference, {"$ref": "a"}),
        (bad_identifier, {"$schema": DRAFT_04, "id": "a:b#c"}),
    ):
        ended = rule.apply(document(schema), CONTEXT)
        assert not isinstance(ended, Document)
        assert ended.reason in rule.reasons


@pytest.mark.parametrize(
    "ref",
    [
        "http://example.com/own#",
        "http://example.com/own#/a",
        DRAFT_04 + "/properties/id",
    ],
)
def test_the_own_identifier_and_metaschemas_are_no_other_document(ref: str) -> None:
    """Every validator finds these without fetching anything."""
    given = document({"id": "http://example.com/own#", "items": {"$ref": ref}})
    assert remote_reference.apply(given, CONTEXT) is given
