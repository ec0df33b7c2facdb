"""Repairs of what a metaschema refuses though it means the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import ABSENT, Document
from curation.core.rule import RepairKind
from curation.rules.lossless import (
    empty_lists,
    exclusive_bounds,
    fitting_draft,
    repeated_values,
)
from curation.schema.dialects import BY_NAME
from curation.validation.metaschemas import is_valid
from tests.curation.judges import accepts, rust_accepts
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.core.rule import Rule

D4 = BY_NAME["draft-04"].uri
D6 = BY_NAME["draft-06"].uri


def applied(rule: Rule, schema: UntypedJson, **given: UntypedJson) -> Document:
    """Return what a rule makes of a schema; none of these rules rejects."""
    result = rule.apply(document(schema, **given), CONTEXT)
    assert isinstance(result, Document)
    return result


CASES = [
    (
        empty_lists,
        {"$schema": D4, "properties": {"a": {"type": "string"}}, "required": []},
        {"$schema": D4, "properties": {"a": {"type": "string"}}},
        [{}, {"a": "x"}, {"a": 1}, 3],
    ),
    (
        empty_lists,
        {"$schema": D4, "items": [], "dependencies": {"a": [], "b": ["a"]}},
        {"$schema": D4, "dependencies": {"b": ["a"]}},
        [[], [1], {"a": 1}, {"b": 1}, {"a": 1, "b": 1}],
    ),
    (
        repeated_values,
        {"$schema": D4, "required": ["a", "b", "a"], "type": ["object", "object"]},
        {"$schema": D4, "required": ["a", "b"], "type": ["object"]},
        [{}, {"a": 1}, {"a": 1, "b": 1}, []],
    ),
    (
        repeated_values,
        {"$schema": D4, "enum": [1, True, "1", 1.0, None], "dependencies": {}},
        {"$schema": D4, "enum": [1, True, "1", None], "dependencies": {}},
        [1, True, "1", 1.0, None, 0, False],
    ),
    (
        repeated_values,
        {"$schema": D4, "dependencies": {"a": ["b", "b"], "c": {}}},
        {"$schema": D4, "dependencies": {"a": ["b"], "c": {}}},
        [{"a": 1}, {"a": 1, "b": 1}, {"c": 1}],
    ),
    (
        exclusive_bounds,
        {"$schema": D4, "exclusiveMinimum": True, "maximum": 3},
        {"$schema": D4, "maximum": 3},
        [2, 3, 4],
    ),
]


@pytest.mark.parametrize(("rule", "before", "after", "instances"), CASES)
def test_what_is_accepted_stays(
    rule: Rule, before: UntypedJson, after: UntypedJson, instances: list[UntypedJson]
) -> None:
    """jsonschema, which reads the text before too, accepts the same before and after.

    jsonschema-rs, which refuses it before, agrees after.
    """
    assert rule.repair is RepairKind.LOSSLESS
    result = applied(rule, before)
    assert result.schema == after
    assert is_valid(result.schema, BY_NAME["draft-04"])
    for instance in instances:
        verdict = accepts(before, instance, "draft-04")
        assert accepts(after, instance, "draft-04") is verdict, instance
        assert rust_accepts(after, instance, "draft-04") is verdict, instance


@pytest.mark.parametrize("rule", [empty_lists, repeated_values])
def test_what_its_draft_allows_stays_as_it_is(rule: Rule) -> None:
    """Draft-06 allows an empty `required`: a schema that is valid is never touched."""
    schema = {"$schema": D6, "required": [], "enum": [1, 1]}
    assert applied(rule, schema).schema is schema
    silent = {"required": [], "additionalProperties": {"type": "string"}}
    assert applied(rule, silent).schema is silent


def test_every_edit_is_a_change_where_it_was_made() -> None:
    """The ledger gets the pointer of the list, its text before, and what is there."""
    schema = {"$schema": D4, "properties": {"a/b": {"enum": [2, 2], "required": []}}}
    lists = applied(empty_lists, schema)
    values = applied(repeated_values, lists.schema)
    told = [
        (change.rule, change.pointer, change.before, change.after)
        for change in (*lists.changes, *values.changes)
    ]
    assert told == [
        ("empty-lists", "/properties/a~1b/required", "[]", ABSENT),
        ("repeated-values", "/properties/a~1b/enum", "[2, 2]", "[2]"),
    ]


def test_boolean_bounds_mean_what_they_did_in_draft_04() -> None:
    """From draft-06 on the number beside takes their place, strict as it was."""
    schema = {
        "$schema": D6,
        "minimum": 1,
        "exclusiveMinimum": True,
        "maximum": 5,
        "exclusiveMaximum": False,
    }
    result = applied(exclusive_bounds, schema)
    assert list(result.schema.items())[1:] == [("exclusiveMinimum", 1), ("maximum", 5)]
    for instance in (0, 1, 1.5, 5, 6):
        verdict = accepts(schema, instance, "draft-04")
        assert accepts(result.schema, instance, "draft-06") is verdict
        assert rust_accepts(result.schema, instance, "draft-06") is verdict


@pytest.mark.parametrize(
    ("schema", "draft"),
    [
        (
            {
                "$schema": D4,
                "oneOf": [
                    {"properties": {"kind": {"const": "a"}}},
                    {"properties": {"kind": {"const": "b"}}},
                ],
                "type": "object",
            },
            "draft-06",
        ),
        ({"$schema": D4, "properties": {"a": {"exclusiveMinimum": 0}}}, "draft-06"),
        ({"$schema": D4, "exclusiveMaximum": 9, "if": {}, "then": {}}, "draft-07"),
        (
            {
                "$schema": D6,
                "id": "http://example.com/x",
                "definitions": {"name": {"id": "#name", "type": "string"}},
                "properties": {"a": {"$ref": "#name"}},
            },
            "draft-04",
        ),
    ],
    ids=["unsatisfiable", "invalid", "nearest", "unresolved"],
)
def test_a_draft_that_leaves_nothing_gives_way(schema: UntypedJson, draft: str) -> None:
    """The nearest draft in which all keywords have effect is taken, with the lint."""
    result = applied(
        fitting_draft,
        schema,
        dialect=BY_NAME["draft-04" if schema["$schema"] == D4 else "draft-06"].name,
        dialect_found="declared",
    )
    assert (result.dialect, result.dialect_found) == (draft, "fitting")
    assert result.schema == {**schema, "$schema": BY_NAME[draft].uri}
    assert [lint.code for lint in result.lints] == ["other-draft"]
    (change,) = result.changes
    assert (change.rule, change.pointer) == ("fitting-draft", "/$schema")


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": D4, "properties": {"a": {"const": 1}}},
        {"$schema": D4, "properties": {"a": {"exclusiveMinimum": 0, "id": "b"}}},
        {"$schema": D4, "type": "strin"},
    ],
    ids=["usable", "no draft gives all effect", "no draft reads it"],
)
def test_a_declared_draft_stays_where_it_can(schema: UntypedJson) -> None:
    """A keyword without effect is no reason by itself: it is flagged, and stays."""
    given = document(schema, dialect="draft-04", dialect_found="declared")
    assert fitting_draft.apply(given, CONTEXT) is given


def test_a_list_that_only_the_draft_of_an_undeclared_schema_refuses_goes() -> None:
    """`id` says draft-04, and draft-04 wants an entry in `required`; others do not."""
    schema = {"id": "a", "type": "object", "required": []}
    repaired = applied(empty_lists, schema)
    assert repaired.schema == {"id": "a", "type": "object"}
    del schema["id"]
    assert applied(empty_lists, schema).schema is schema
