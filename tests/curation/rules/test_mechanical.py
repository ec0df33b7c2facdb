"""Mechanical repairs: slips, their guard, and the evidence for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Document, Origin, Reason, Rejected, RepairEvidence
from curation.core.rule import RepairKind
from curation.json.pointer import at, change_at, parse_tokens, pointer, replaced
from curation.json.text import parse
from curation.pipeline.process_document import apply_rules
from curation.rules.clean import unsatisfiable
from curation.rules.guard import (
    admits,
    differences,
    evidence_counts,
    mechanical,
    supports,
    with_evidence,
)
from curation.rules.mechanical import (
    apply_patches,
    boolean_required,
    misplaced_keywords,
    misspelt_types,
    patches,
    quoted_values,
    schema_as_type,
    type_as_schema,
)
from curation.rules.sets import rule_set
from curation.schema.dialects import BY_NAME, DRAFT_07
from curation.schema.subschemas import walk, without
from curation.sources.registry import source_named
from curation.validation.metaschemas import is_valid
from tests.curation.pinned import needs_mirror, pinned
from tests.curation.rules.documents_made import CONTEXT, PROVENANCE, document
from tests.curation.schema_strategies import schemas
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.documents import RawDocument
    from curation.core.json_types import UntypedJson
    from curation.core.rule import Rule
    from curation.rules.guard import Refused


D4 = {"$schema": BY_NAME["draft-04"].uri}
D7 = {"$schema": BY_NAME["draft-07"].uri}


def applied(rule: Rule, schema: UntypedJson) -> Document:
    """Return what a rule makes of a schema; none of these rules rejects."""
    result = rule.apply(document(schema), CONTEXT)
    assert isinstance(result, Document)
    return result


#: Schemas that their drafts read, with properties and data named like what is mended.
NAMED_LIKE_SLIPS: list[UntypedJson] = [
    D7 | {"properties": {"required": True, "additionalProperties": False}},
    D7 | {"properties": {"define": {"type": "object"}, "#ref": {"const": "#/a"}}},
    D7 | {"properties": {"title": {"enum": ["dict"]}, "minProperties": {"minimum": 1}}},
    D4 | {"properties": {"type": {"type": "string"}, "enum": {"enum": ["str|int"]}}},
    D4 | {"enum": [{"type": "dict", "required": True, "pattern": "a{,3}"}]},
    D4 | {"default": {"properties": {"required": ["a"], "title": "x"}}},
    D7 | {"const": {"define": {"a": {}}, "minimum": "1", "type": {"type": "string"}}},
    D4 | {"required": ["required"], "properties": {"required": {"type": "array"}}},
]
MECHANICAL = [
    boolean_required,
    misplaced_keywords,
    misspelt_types,
    quoted_values,
    schema_as_type,
    type_as_schema,
]


def test_properties_that_are_named_like_a_slip_are_properties(
    subtests: pytest.Subtests,
) -> None:
    """A schema that its draft reads is what it says, whatever its properties' names."""
    for rule in MECHANICAL:
        for schema in NAMED_LIKE_SLIPS:
            with subtests.test(rule=rule.name, schema=schema):
                assert applied(rule, schema).schema == schema


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


@pytest.mark.slow
@given(st.data())
def test_a_document_with_one_refused_place_changes_only_there(
    data: st.DataObject,
) -> None:
    """Whatever stands around the slip stays, siblings without a `type` included."""
    drawn = data.draw(schemas("draft-07", satisfiable=False))
    definitions: UntypedJson = {"a": {"enum": [1]}, "b": {"minLength": 1}}
    root: UntypedJson = {**D7, **drawn, "definitions": definitions}
    holders = [
        each.tokens for each in walk(root, DRAFT_07) if isinstance(each.schema, dict)
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
    tokens = parse_tokens(place)
    rule = misspelt_types.name
    change = change_at(rule, tokens, "slip", at(schema, tokens))
    changed = document(
        schema, changes=(change,), repaired=(rule,), dialect=DRAFT_07.name
    )
    return unsatisfiable.apply(changed, CONTEXT)


@pytest.mark.parametrize(
    ("schema", "place", "where"),
    table(__file__, "repaired"),
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
    table(__file__, "unrepaired"),
)
def test_what_accepts_nothing_without_the_repair_is_the_authors(
    schema: UntypedJson,
) -> None:
    """A lint speaks of it; the record stays."""
    place = next(
        pointer((*each.tokens, "type"))
        for each in reversed([*walk(schema, DRAFT_07)])
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


#: The names of dead keywords in the published text.
DEAD = {"_format": "format", "_uniqueItems": "uniqueItems", "_id": "id", "_$id": "$id"}


def type_repaired(**given: UntypedJson) -> Document:
    """Return a document whose misspelt type was repaired."""
    before = document({"$schema": DRAFT_07.uri, "type": "int"}, **given)
    after = misspelt_types.apply(before, CONTEXT)
    assert isinstance(after, Document)
    return with_evidence(before, after, misspelt_types.name)


def test_every_mechanical_change_says_what_supports_it() -> None:
    """By the list for GitHub's own files; all others by reasoning."""
    rows = {key: row for key, row in supports().items() if key[1] == "misspelt-types"}
    own = next(key[0] for key, row in rows.items() if not row.difference)
    [change] = type_repaired(config="Github", unique_id=own).changes
    assert change.evidence == RepairEvidence.PUBLISHED
    differing, row = next((key[0], row) for key, row in rows.items() if row.difference)
    [change] = type_repaired(config="Github", unique_id=differing).changes
    assert change.evidence == RepairEvidence.REASONING
    assert change.note.endswith(row.difference)
    sample = replace(PROVENANCE, origin=Origin.SAMPLE)
    for others in ({"config": "Local"}, {"provenance": sample, "config": "Github"}):
        [change] = type_repaired(unique_id=own, **others).changes
        assert change.evidence == RepairEvidence.REASONING
    assert type_repaired().repaired == ("misspelt-types",)


def test_the_list_names_mechanical_rules_alone() -> None:
    """Whatever does not agree has its reason, and nothing else has one."""
    mechanical = {
        rule.name
        for rule in rule_set("clean").rules
        if rule.repair is RepairKind.MECHANICAL
    }
    assert {rule for _, rule in supports()} == mechanical
    for support in supports().values():
        assert bool(support.difference) == (
            support.evidence is RepairEvidence.REASONING
        )
    assert sum(evidence_counts("misspelt-types").values()) > 0
    assert sum(evidence_counts("patches").values()) > 0
    assert evidence_counts("wrap-library") == {}


def raw_documents(rules: str, ids: set[str]) -> Mapping[str, RawDocument]:
    """Return GitHub's raw documents of a rule set, by id."""
    source = source_named("github")
    [archive] = source.archives[rules]
    read = source.read(pinned(archive, rules))
    return {raw.unique_id: raw for raw in read if raw.unique_id in ids}


def alive(value: UntypedJson) -> UntypedJson:
    """Return a published value with its dead keywords under their own names."""
    if isinstance(value, dict):
        return {DEAD.get(name, name): alive(member) for name, member in value.items()}
    return [alive(item) for item in value] if isinstance(value, list) else value


def text_at(schema: UntypedJson, place: str) -> UntypedJson:
    """Return what stands at a place, or a text that no schema has."""
    try:
        return at(schema, parse_tokens(place))
    except LookupError:
        return "(nothing)"


@needs_mirror
def test_the_published_text_agrees_where_the_list_says_so() -> None:
    """At every place of the repair, and nowhere else; rule set `paper` rebuilds it."""
    ids = {unique_id for unique_id, _ in supports()}
    published = raw_documents("paper", ids)
    for unique_id, raw in raw_documents("clean", ids).items():
        done = apply_rules(raw, rule_set("clean"), CONTEXT)
        assert done.record is not None, unique_id
        ours = parse(done.record.json_schema.encode())
        other = apply_rules(published[unique_id], rule_set("paper"), CONTEXT).record
        theirs = alive(parse(other.json_schema.encode())) if other else None
        assert not isinstance(theirs, Rejected)
        assert {key for key in supports() if key[0] == unique_id} == {
            (unique_id, rule) for rule in done.record.repaired
        }
        for rule in done.record.repaired:
            agrees = theirs is not None and all(
                text_at(ours, change.pointer) == text_at(theirs, change.pointer)
                for change in done.changes
                if change.rule == rule
            )
            assert agrees == (not supports()[unique_id, rule].difference), unique_id
