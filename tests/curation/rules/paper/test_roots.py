"""The paper rules about the root: promote, wrap, array type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import ABSENT, Document, Reason, Rejected
from curation.json.pointer import at, tokens_of
from curation.json.text import write
from curation.rules.paper import array_type, promote, wrap
from curation.schema.paper_roots import constrains, entries
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.core.rule import Rule

DRAFT_04 = "http://json-schema.org/draft-04/schema#"


def applied(rule: Rule, schema: UntypedJson) -> Document:
    """Return the document that a rule leaves."""
    left = rule.apply(document(schema), CONTEXT)
    assert isinstance(left, Document)
    return left


def test_the_first_member_with_a_schema_of_its_own_is_promoted() -> None:
    """The first in file order wins, and all else goes."""
    first: UntypedJson = {"$schema": DRAFT_04, "type": "string"}
    root: UntypedJson = {"command": "x", "b": first, "a": {"$schema": DRAFT_04}}
    left = applied(promote, root)
    assert left.schema == first
    [change] = left.changes
    assert (change.pointer, change.before) == ("", write(root))
    assert change.after == write(first)
    assert "/b" in change.note


@pytest.mark.parametrize(
    "root",
    [
        {"$schema": DRAFT_04, "a": {"$schema": DRAFT_04}},
        {"properties": {}, "a": {"$schema": DRAFT_04}},
        {"a": {"b": {"$schema": DRAFT_04}}},
        {"a": [{"$schema": DRAFT_04}]},
        {"a": "$schema"},
        True,
    ],
)
def test_only_members_of_roots_that_are_no_schemas_are_promoted(
    root: UntypedJson,
) -> None:
    """Not where the root is a schema, and neither from below nor out of arrays."""
    made = document(root)
    assert promote.apply(made, CONTEXT) is made


def test_a_promoted_schema_must_pass_the_metaschema_too() -> None:
    """Inside an unknown member nobody had looked at it before."""
    root = {"a": {"$schema": DRAFT_04, "exclusiveMinimum": "no", "minimum": 1}}
    ended = promote.apply(document(root), CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.INVALID_SCHEMA
    assert ended.detail.startswith("in /a: /exclusiveMinimum: ")


def test_a_library_is_wrapped_by_what_it_defines() -> None:
    """Dotted paths without `definitions` name properties that all are required."""
    root = {
        "definitions": {
            "a": {"type": "string"},
            "group": {"b": {"enum": [1]}, "note": {"title": "nothing"}},
            "c/d": {"properties": {"inner": {"type": "string"}}},
        },
        "required": ["x"],
    }
    left = applied(wrap, root)
    assert left.schema == {
        "definitions": root["definitions"],
        "properties": {
            "a": {"$ref": "#/definitions/a"},
            "group.b": {"$ref": "#/definitions/group/b"},
            "c/d": {"$ref": "#/definitions/c~1d"},
        },
        "required": ["a", "group.b", "c/d"],
    }
    assert list(left.schema) == ["definitions", "required", "properties"]
    properties, required = left.changes
    assert (properties.pointer, properties.before) == ("/properties", ABSENT)
    assert (required.pointer, required.before) == ("/required", '["x"]')


@pytest.mark.parametrize(
    "root",
    [
        {"$schema": DRAFT_04, "type": "array", "definitions": {"a": {"enum": [1]}}},
        {"$schema": DRAFT_04, "minProperties": 1, "definitions": {"a": {"enum": [1]}}},
        {"title": "no sign of a schema", "a": {"type": "string"}},
        {"definitions": {"a": {"type": "object"}, "b": {"type": "git"}}},
        {"definitions": {"a": [{"type": "string"}]}},
    ],
)
def test_nothing_else_is_wrapped(root: UntypedJson) -> None:
    """Not where the root asks something, is no schema, or holds no schema."""
    made = document(root)
    assert wrap.apply(made, CONTEXT) is made


LIBRARIES = st.dictionaries(
    st.sampled_from(["a", "b/c", "d~e", "definitions", "type", "properties"]),
    st.recursive(
        st.sampled_from(["object", "string", 7, None, {"minimum": 1}]),
        lambda inner: st.dictionaries(
            st.sampled_from(["a", "definitions", "title", "x/y", "~1", "enum"]), inner
        ),
        max_leaves=12,
    ),
)


@given(LIBRARIES)
def test_every_entry_stands_where_its_pointer_says(
    root: dict[str, UntypedJson],
) -> None:
    """Entries are objects of the root, none inside another, in file order."""
    found = list(entries(root))
    assert all(isinstance(at(root, tokens), dict) for tokens in found)
    assert not any(
        one != other and other[: len(one)] == one for one in found for other in found
    )


@given(LIBRARIES)
def test_a_wrap_makes_a_root_that_constrains(root: dict[str, UntypedJson]) -> None:
    """A document is wrapped once: then its root asks something, and all resolves."""
    made = document({"$schema": DRAFT_04, **root})
    left = wrap.apply(made, CONTEXT)
    assert isinstance(left, Document)
    if left is made:
        return
    assert constrains(left.schema)
    assert wrap.apply(left, CONTEXT) is left
    for each in left.schema["properties"].values():
        assert isinstance(at(made.schema, tokens_of(each["$ref"][1:])), dict)


def test_a_root_with_items_becomes_an_array() -> None:
    """Only `type` changes, where it stands."""
    left = applied(array_type, {"type": "object", "items": {}, "title": "t"})
    assert write(left.schema) == '{"type": "array", "items": {}, "title": "t"}'
    assert [each.pointer for each in left.changes] == ["/type"]


@pytest.mark.parametrize(
    "root",
    [
        {"type": "object", "items": {}, "properties": {}},
        {"type": "object", "items": [{}]},
        {"type": ["object"], "items": {}},
        {"properties": {"a": {"type": "object", "items": {}}}},
    ],
)
def test_other_objects_with_items_stay(root: UntypedJson) -> None:
    """Nested ones, those with an applying word, and lists stay as they are."""
    made = document(root)
    assert array_type.apply(made, CONTEXT) is made


def test_boolean_bounds_of_a_promoted_schema_become_numbers() -> None:
    """Only where the schema does not pass `check_schema` as it stands."""
    inner = {"$schema": DRAFT_04, "maximum": 9, "exclusiveMaximum": True}
    result = applied(promote, {"schema": inner})
    assert result.schema == {"$schema": DRAFT_04, "exclusiveMaximum": 9}
    plain = {"$schema": DRAFT_04, "exclusiveMaximum": 9}
    assert applied(promote, {"schema": plain}).schema is plain


def test_plain_names_of_a_promoted_schema_become_pointers() -> None:
    """Where 2020-12 refuses them, and with the references to them; others stay."""
    definition = {"$id": "#entry", "type": "string"}
    inner: UntypedJson = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"entry": definition},
        "items": {"$ref": "#entry"},
    }
    result = applied(promote, {"schema": inner})
    assert result.schema == {
        **inner,
        "definitions": {"entry": {"type": "string"}},
        "items": {"$ref": "#/definitions/entry"},
    }
    own: UntypedJson = {**inner, "definitions": {"entry": {"$id": "x.json"}}}
    assert applied(promote, {"schema": own}).schema is own
