"""The guard: a mechanical repair changes refused places alone, and invents nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Document, Reason, Rejected
from curation.core.rule import RepairKind
from curation.json.pointer import at, change_at, pointer, replaced, tokens_of
from curation.rules.clean import unsatisfiable
from curation.rules.editing import differences
from curation.rules.guard import admits, mechanical
from curation.rules.mechanical import apply_patches, misspelt_types, patches
from curation.rules.sets import rule_set
from curation.schema.dialects import DRAFT_07
from curation.schema.subschemas import subschema_locations, without
from curation.validation.metaschemas import is_valid
from tests.curation.rules.documents_made import CONTEXT, document
from tests.curation.schema_strategies import schemas

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.rules.guard import Refused

D7 = {"$schema": DRAFT_07.uri}
#: Members that draft-07 refuses in a schema, each with the rule that mends it.
SLIPS: list[dict[str, UntypedJson]] = [
    {"type": "int"},
    {"type": "str|null"},
    {"type": ["string", None]},
    {"type": {"enum": [1, "a"]}},
    {"minimum": "3"},
    {"uniqueItems": "true"},
    {"required": True},
    {"items": "string"},
    {"properties": {"slip": {}, "required": ["slip"]}},
    {"properties": {"slip": "boolean"}},
]


def repaired(schema: UntypedJson) -> Document:
    """Return a document after every mechanical rule of `clean`."""
    current = document(schema)
    for rule in rule_set("clean").rules:
        if rule.repair is RepairKind.MECHANICAL:
            result = rule.apply(current, CONTEXT)
            assert isinstance(result, Document)
            current = result
    return current


@given(st.data())
def test_a_document_with_one_refused_place_changes_only_there(
    data: st.DataObject,
) -> None:
    """Whatever stands around the slip stays, siblings without a `type` included."""
    drawn = data.draw(schemas("draft-07", satisfiable=False))
    definitions: UntypedJson = {"a": {"enum": [1]}, "b": {"minLength": 1}}
    root: UntypedJson = {**D7, **drawn, "definitions": definitions}
    holders = [
        each.tokens
        for each in subschema_locations(root, DRAFT_07)
        if isinstance(each.schema, dict)
    ]
    holder = data.draw(st.sampled_from(holders))
    slip = data.draw(st.sampled_from(SLIPS))
    around: UntypedJson = at(root, holder)
    inner = without(around, *slip, "allOf")
    broken = replaced(root, holder, {**inner, **slip}) if holder else {**root, **slip}
    result = repaired(broken).schema
    keywords = {*slip, "type", "enum", "required", "allOf", "anyOf"}
    above = {holder[:-2]} if "required" in slip else set()
    for tokens, _, _ in differences((), broken, result):
        inside = tokens[: len(holder)] == holder and tokens[len(holder)] in keywords
        assert inside or tokens in {(*place, "required") for place in above}


def test_what_has_no_type_gets_none() -> None:
    """One refused type in a document says nothing of the schemas beside it."""
    schema: UntypedJson = D7 | {
        "properties": {
            "status": {"enum": ["open"]},
            "count": {"type": "int"},
            "either": {
                "oneOf": [{"required": ["run"]}, {"$ref": "#/properties/count"}]
            },
        }
    }
    count = ("properties", "count", "type")
    assert repaired(schema).schema == replaced(schema, count, "integer")


@pytest.mark.parametrize("rule", rule_set("clean").rules, ids=lambda rule: rule.name)
def test_every_mechanical_repair_is_guarded(rule: UntypedJson) -> None:
    """All but the hand-checked patches are applied by the guard."""
    if rule.repair is RepairKind.MECHANICAL and rule is not apply_patches:
        assert rule.apply.__qualname__.startswith(mechanical.__name__)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"type": "int"}, {"type": "int", "minimum": 1}),
        ({"type": "int", "minimum": 1}, {"type": "integer"}),
        ({"type": "int", "minimum": 1}, {"type": "integer", "minimum": 2}),
        ({"type": "int", "enum": [1, 2]}, {"type": "integer", "enum": [1]}),
        ({"type": "int"}, {"type": "integer", "not": {"const": None}}),
    ],
)
def test_an_edit_beside_the_refused_place_is_not_admitted(
    before: UntypedJson, after: UntypedJson
) -> None:
    """Neither what the author did not write is added, nor is anything lost."""
    assert not admits(before, after, [("type",)])
    assert admits(before, {**before, "type": "integer"}, [("type",)])


def test_what_was_refused_may_be_said_in_another_place() -> None:
    """A move: the values are the author's, and so are the names on their way."""
    before: UntypedJson = {"properties": {"a": {"required": True}, "required": ["b"]}}
    refused = [("properties", "a", "required"), ("properties", "required")]
    moved: UntypedJson = {"properties": {"a": {}}, "required": ["a", "b"]}
    assert admits(before, moved, refused)
    assert not admits(before, {**moved, "required": ["c"]}, refused)


def test_a_rule_that_edits_elsewhere_changes_nothing() -> None:
    """The guard drops the edit, and no change is listed."""

    @mechanical("closes", summary="", source="", note="")
    def closes(schema: dict[str, UntypedJson], _refused: Refused) -> UntypedJson:
        return {**schema, "additionalProperties": False, "type": "object"}

    schema = D7 | {"properties": {"a": {"type": "obj"}}}
    result = closes.apply(document(schema), CONTEXT)
    assert isinstance(result, Document)
    assert result.schema is schema


def sites(schema: UntypedJson, place: str) -> Document | Rejected:
    """Return what rule `unsatisfiable` says of a schema with a repair at a place."""
    tokens = tokens_of(place)
    rule = misspelt_types.name
    change = change_at(rule, tokens, "slip", at(schema, tokens))
    changed = document(
        schema, changes=(change,), repaired=(rule,), dialect=DRAFT_07.name
    )
    return unsatisfiable.apply(changed, CONTEXT)


@pytest.mark.parametrize(
    ("schema", "place", "where"),
    [
        ({"items": {"type": "null", "enum": [1]}}, "/items/type", "/items"),
        (
            {
                "properties": {
                    "a": {
                        "type": "object",
                        "oneOf": [{"required": ["b"], "type": "null"}],
                    }
                }
            },
            "/properties/a/oneOf/0/type",
            "/properties/a",
        ),
        (
            {
                "properties": {
                    "a": {"allOf": [{"$ref": "#/definitions/d"}, {"minimum": 1}]}
                },
                "definitions": {"d": {"enum": [0], "type": "integer"}},
            },
            "/definitions/d/type",
            "/properties/a",
        ),
    ],
)
def test_a_repair_leaves_every_schema_around_it_satisfiable(
    schema: UntypedJson, place: str, where: str
) -> None:
    """Also where a reference leads to it; else the record ends, with the place."""
    result = sites(D7 | schema, place)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.UNSATISFIABLE
    assert result.pointer == where


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"type": "integer", "enum": [1]}},
        {"properties": {"a": False}, "items": {"type": "null"}},
        {
            "items": {
                "type": "object",
                "required": ["a"],
                "properties": {"a": False, "b": {"items": {"type": "string"}}},
            }
        },
    ],
)
def test_what_accepts_nothing_without_the_repair_is_the_authors(
    schema: UntypedJson,
) -> None:
    """A lint speaks of it; the record stays."""
    place = next(
        pointer((*each.tokens, "type"))
        for each in reversed([*subschema_locations(schema, DRAFT_07)])
        if "type" in each.keywords
    )
    assert isinstance(sites(D7 | schema, place), Document)


def test_patches_are_of_the_very_file() -> None:
    """A document of the same id with another text is not patched."""
    assert patches().keys() >= {"o2231"}
    for unique_id in patches():
        other = document({"#ref": "#/definitions/a"}, unique_id=unique_id)
        assert apply_patches.apply(other, CONTEXT) is other


def test_nothing_that_a_draft_reads_is_changed() -> None:
    """Valid schemas pass all mechanical rules as the same object."""

    @given(schemas("draft-07", satisfiable=False))
    def law(schema: UntypedJson) -> None:
        root: UntypedJson = {**D7, **schema} if isinstance(schema, dict) else D7
        assert is_valid(root, DRAFT_07)
        assert repaired(root).schema is root

    law()


@pytest.mark.parametrize("name", ["", "007", "+5"])
def test_a_place_of_an_odd_name_is_repaired(name: str) -> None:
    """And its neighbour, whose name is the same number, is left alone."""
    schema = {"properties": {name: {"type": "bool"}, "7": {"type": "string"}}}
    wanted = {"properties": {name: {"type": "boolean"}, "7": {"type": "string"}}}
    assert repaired({"type": "object", **schema}).schema == {"type": "object", **wanted}
