"""Promoting, wrapping and dropping in rule set `clean`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import ABSENT, Document, Reason, Rejected
from curation.json.text import write
from curation.rules.clean import empty, promote, wrap
from tests.curation.judges import rust_accepts
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def _wrapped(schema: UntypedJson) -> UntypedJson:
    result = wrap.apply(document(schema), CONTEXT)
    assert isinstance(result, Document)
    return result.schema


def test_an_embedded_schema_takes_the_place_of_the_root() -> None:
    """The whole root is in the change, so that nothing is lost."""
    inner: UntypedJson = {"$schema": "s", "type": "object", "properties": {"a": {}}}
    root = {"name": "tool", "inputs": [1], "input_schema": inner}
    result = promote.apply(document(root), CONTEXT)
    assert isinstance(result, Document)
    assert result.schema == inner
    assert result.changes[0].before == write(root)


def test_a_schema_of_its_own_is_not_touched() -> None:
    """A root that asks something keeps its place."""
    made = document({"properties": {"a": {"$schema": "s"}}})
    assert promote.apply(made, CONTEXT) is made


def test_a_library_becomes_an_object_with_optional_properties() -> None:
    """One property for each definition, none required, `type` added."""
    root = {
        "$schema": "s",
        "definitions": {"a": {"type": "string"}, "b": {"enum": [1]}},
    }
    result = wrap.apply(document(root), CONTEXT)
    assert isinstance(result, Document)
    assert result.schema == {
        **root,
        "type": "object",
        "properties": {
            "a": {"$ref": "#/definitions/a"},
            "b": {"$ref": "#/definitions/b"},
        },
    }
    assert list(result.schema)[:2] == ["$schema", "definitions"]
    assert [(c.pointer, c.before) for c in result.changes] == [
        ("/type", ABSENT),
        ("/properties", ABSENT),
    ]


def test_required_names_are_never_overwritten() -> None:
    """A root that requires names asks something, and is left alone."""
    root = {"definitions": {"a": {"type": "string"}}, "required": ["a"]}
    assert _wrapped(root) == root


def test_a_recursive_definition_leaves_a_wrap_that_objects_satisfy() -> None:
    """What requires itself without end is an optional member."""
    endless = {
        "type": "object",
        "required": ["next"],
        "properties": {"next": {"$ref": "#/definitions/node"}},
    }
    wrapped = _wrapped({"definitions": {"node": endless}})
    assert rust_accepts(wrapped, {}, "draft-07")
    assert not rust_accepts(wrapped, [], "draft-07")


def test_hostile_names_survive_wrapping() -> None:
    """Names with slashes, tildes, quotes, spaces or nothing at all are escaped."""
    names = ["a/b", "a~b", 'a"b', "a b", "", "__proto__", "\u202e", "%41", "x" * 10_000]
    root = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {name: {"const": name} for name in names},
    }
    wrapped = _wrapped(root)
    for name in names:
        assert rust_accepts(wrapped, {name: name}, "draft-07")
        assert not rust_accepts(wrapped, {name: 1}, "draft-07")


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.sampled_from([{"type": "null"}, {}, {"x": {"const": 1}}]),
    )
)
def test_a_wrap_is_typed_satisfiable_and_final(definitions: UntypedJson) -> None:
    """Whatever the library holds, `{}` satisfies its wrap, and wrapping ends."""
    root = {"type": "object", "definitions": definitions}
    wrapped = _wrapped(root)
    assert wrapped["type"] == "object"
    assert rust_accepts(wrapped, {}, "draft-07")
    assert _wrapped(wrapped) == wrapped


@pytest.mark.parametrize(
    "root",
    [
        {"$schema": "s"},
        {"$schema": "s", "title": "t", "self": {"vendor": "v"}},
        {"type": "object"},
        {"type": "object", "additionalProperties": False},
        {"type": "object", "additionalProperties": True},
        {"definitions": {"a": {"description": "d"}}},
        {"name": "a package", "version": "1"},
        {},
    ],
)
def test_what_restricts_nothing_is_dropped(root: UntypedJson) -> None:
    """There is nothing to generate or to reject by."""
    result = empty.apply(document(root), CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.EMPTY


@pytest.mark.parametrize(
    ("root", "why"),
    [
        ({"type": "object"}, "asks for an object"),
        ({"items": {}}, "restricts nothing"),
        ({"not": False}, "restricts nothing"),
        ({"name": "a package", "description": "d"}, "no keyword"),
        ({"$schema": "s", "format": "email"}, "only 'format'"),
        ({"additionalProperties": False}, "no object but the empty one"),
    ],
)
def test_the_reason_says_what_the_root_has(root: UntypedJson, why: str) -> None:
    """A root with a type is not said to restrict nothing."""
    result = empty.apply(document(root), CONTEXT)
    assert isinstance(result, Rejected)
    assert why in result.detail


def test_a_schema_of_encoded_content_is_no_definition() -> None:
    """An annotation restricts nothing, and is not wrapped."""
    root = {"contentMediaType": "application/json", "contentSchema": {"type": "null"}}
    assert _wrapped({"type": "object", **root}) == {"type": "object", **root}


@pytest.mark.parametrize(
    "root",
    [
        {"type": "object", "properties": {}},
        {"type": "object", "additionalProperties": {}},
        {"type": "string"},
        {"required": ["a"]},
        {"minProperties": 1},
        {"$ref": "#/definitions/a"},
        {"properties": "broken"},
        {"not": {}},
        {"not": True},
        {"contains": True},
        {"contains": {}},
        {"items": False},
    ],
)
def test_what_says_something_is_not_empty(root: UntypedJson) -> None:
    """An explicit "anything goes", another type, or a keyword that asks."""
    made = document(root)
    assert empty.apply(made, CONTEXT) is made
