"""Edits of one value: where it can be edited, keyword by keyword."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import ABSENT
from curation.instances.constraints.assertions import Assertion, find_reachable_keywords
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjoin import conjoin
from curation.instances.near_misses.edits import EDITS
from curation.instances.near_misses.scalar_edits import EditTarget, is_complete
from curation.instances.near_misses.sites import (
    KnownSites,
    edit_sites,
    goals_for_path,
    member_at,
    with_edit,
)
from curation.instances.search.builder import WitnessBuilder
from curation.instances.search.context import NOTHING
from curation.instances.values.model import InstanceKind

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.instances.near_misses.scalar_edits import Edit


def _target(schema: UntypedJson, keyword: str, value: Json) -> EditTarget:
    compiled = CompiledSchema.from_json(schema, "draft-07")
    return EditTarget(
        value=value,
        schema=schema,
        keyword=keyword,
        compiled=compiled,
        conjunction=conjoin(compiled, (compiled.root,)),
        rng=random.Random(0),
        fill=lambda _: NOTHING,
    )


@pytest.mark.parametrize(
    ("schema", "keyword", "value", "first"),
    [
        ({"minimum": 3}, "minimum", 3, 2),
        ({"maximum": 9, "multipleOf": 4}, "maximum", 8, 13),
        ({"exclusiveMinimum": 3}, "exclusiveMinimum", 4, 3),
        ({"minLength": 3}, "minLength", "text", "te"),
        ({"maxLength": 3}, "maxLength", "abc", "abcc"),
        ({"minItems": 2}, "minItems", [1, 2], [1]),
        ({"maxItems": 2}, "maxItems", [1, 2], [1, 2, 2]),
        ({"uniqueItems": True}, "uniqueItems", [1, 2], [1, 2, 2]),
        (
            {"required": ["a", "b"]},
            "required",
            {"a": 1, "b": 2, "c": 3},
            {"a": 1, "c": 3},
        ),
        ({"minProperties": 2}, "minProperties", {"a": 1, "b": 2}, {"a": 1}),
        ({"dependencies": {"a": ["b"]}}, "dependencies", {"a": 1, "b": 2}, {"a": 1}),
        ({"enum": ["ab"]}, "enum", "ab", "a"),
        ({"maximum": 2**63 - 1}, "maximum", 1, 2**63 + 2**11),
        ({"minimum": -(2**63)}, "minimum", 1, -(2**63) - 2**11),
    ],
)
def test_the_first_edit_is_the_most_natural(
    schema: UntypedJson, keyword: str, value: Json, first: Json
) -> None:
    """One step over a bound, one member too many or too few."""
    assert next(EDITS[keyword](_target(schema, keyword, value))) == first


@pytest.mark.parametrize("pattern", ["^(.*)$", "^.*$", "^.{0,99}$"])
def test_no_edit_ends_with_a_line_break(pattern: str) -> None:
    """Engines differ on `$` before a last line break; none lets `.` match one."""
    texts = list(EDITS["pattern"](_target({"pattern": pattern}, "pattern", "abc")))
    assert not [text for text in texts if str(text).endswith("\n")]
    assert "a\na" in texts


def test_a_keyword_without_a_number_has_no_bound() -> None:
    """An edit that asks for one all the same is a fault of ours."""
    target = _target({"required": ["a"]}, "required", {})
    with pytest.raises(TypeError, match="required"):
        _ = target.limit


def test_a_value_of_another_type_has_no_members() -> None:
    """Edits of arrays and objects start from empty ones then."""
    target = _target({"minItems": 2}, "minItems", "text")
    assert target.array == []
    assert target.members == {}


def test_no_edit_is_a_multiple_but_for_a_rounding_error() -> None:
    """15.37 is a multiple of 0.01, and 14.37 + 1 is 15.370000000000001."""
    target = _target({"multipleOf": 0.01}, "multipleOf", 14.37)
    edited = [new for new in EDITS["multipleOf"](target) if isinstance(new, float)]
    assert edited
    assert [new for new in edited if abs(new * 100 - round(new * 100)) < 1e-6] == []


def test_null_is_no_wrong_type_where_a_reader_may_allow_it() -> None:
    """OpenAPI's `nullable` is known to some validators."""
    target = _target({"type": "string", "nullable": True}, "type", "text")
    assert None not in list(EDITS["type"](target))


def test_a_malformed_regex_is_none_without_the_flag_u_either() -> None:
    """`[0-9]{2,4` is a pattern to readers that take a brace for itself."""
    target = _target({"format": "regex"}, "format", "[0-9]{2,4}")
    assert "[0-9]{2,4" not in list(EDITS["format"](target))


def test_a_text_may_be_too_long_by_characters_of_two_units() -> None:
    """One draw of ten: lengths are those of code points."""
    target = _target({"maxLength": 2}, "maxLength", "ab")
    first = {next(iter(EDITS["maxLength"](target))) for _ in range(60)}
    assert first == {"abb", "\U0001f600" * 3}


def test_every_value_that_a_keyword_can_refuse_is_a_site() -> None:
    """The outermost first; a value without keywords is none."""
    schema = {
        "required": ["a"],
        "properties": {"a": {"items": {"type": "integer"}}, "b": {}},
    }
    compiled = CompiledSchema.from_json(schema, "draft-07")
    found = edit_sites(compiled, {"a": [1, 2], "b": "any"})
    assert [(site.path, site.value) for site in found] == [
        ((), {"a": [1, 2], "b": "any"}),
        (("a", 0), 1),
        (("a", 1), 2),
    ]


def test_what_a_branch_that_holds_asks_counts_only_inside() -> None:
    """A keyword below anyOf applies to the values of a witness that meets it."""
    schema = {"anyOf": [{"type": "null"}, {"properties": {"a": {"minimum": 3}}}]}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    assert [site.path for site in edit_sites(compiled, {"a": 4})] == [()]
    inside = edit_sites(compiled, {"a": 4}, inside=True)
    assert [site.path for site in inside] == [(), ("a",)]


def test_an_edit_copies_and_leaves_the_witness_alone() -> None:
    """A new element may be put behind the last one, a new property anywhere."""
    witness: Json = {"a": [1]}
    assert with_edit(witness, ("a", 1), 2) == {"a": [1, 2]}
    assert with_edit(witness, ("b",), None) == {"a": [1], "b": None}
    assert witness == {"a": [1]}
    with pytest.raises(LookupError):
        with_edit(witness, ("a", 0, "below a number"), 2)


def test_a_member_that_is_not_there_is_absent() -> None:
    """Also where the value is of another type; null is a value."""
    assert member_at({"a": None}, "a") is None
    assert member_at([7], 1) == member_at("text", 0) == member_at([], "a") == ABSENT


def test_goals_for_a_path_make_a_value_stand_there() -> None:
    """Objects and arrays around it are asked for on the way."""
    schema = {"properties": {"a": {"items": {"const": "made"}}}}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    builder = WitnessBuilder(
        compiled=compiled, rng=random.Random(0), kind=InstanceKind.MINIMAL, steps=100
    )
    goals = (compiled.root, *goals_for_path(("a", 1)))
    assert builder.value(goals) == {"a": ["made", "made"]}


@pytest.mark.parametrize(
    ("edit", "complete"),
    [
        ([1, None], True),
        ([1, NOTHING], False),
        ({"a": NOTHING}, False),
        (NOTHING, False),
        (float("inf"), False),
    ],
)
def test_an_edit_is_complete_if_all_of_it_was_made(
    edit: Edit, *, complete: bool
) -> None:
    """What could not be made, and infinity, are no JSON."""
    assert is_complete(edit) == complete


_SCHEMA = {
    "type": "object",
    "properties": {"no": False, "list": {"items": {"type": "string"}}},
    "additionalProperties": {"minimum": 1},
}


@pytest.fixture
def compiled() -> CompiledSchema:
    """Return a schema with a property that must not be there."""
    return CompiledSchema.from_json(_SCHEMA, "draft-07")


def _assertion(compiled: CompiledSchema, pointer: str) -> Assertion:
    reachable = find_reachable_keywords(compiled).assertions
    return next(found for found in reachable if found.pointer == pointer)


def test_only_so_many_sites_are_kept_for_one_assertion(
    compiled: CompiledSchema,
) -> None:
    """The first ones, in the order of the witness."""
    sites = KnownSites(compiled, most=2)
    sites.add_witness({"a": 1, "b": 2, "c": 3})
    minimum = _assertion(compiled, "/additionalProperties/minimum")
    assert minimum in sites
    assert [site.path for site in sites.of_assertion(minimum)] == [("a",), ("b",)]


def test_a_forbidden_property_is_a_site_without_a_value(
    compiled: CompiledSchema,
) -> None:
    """Whatever is put there is refused."""
    sites = KnownSites(compiled, most=2)
    sites.add_witness({"list": [""]})
    (site,) = sites.of_assertion(_assertion(compiled, "/properties/no"))
    assert (site.path, site.value) == (("no",), None)


def test_an_empty_site_is_taken_where_a_value_can_be_put(
    compiled: CompiledSchema,
) -> None:
    """An element only behind the last one, in the first witness that has room."""
    kind = _assertion(compiled, "/properties/list/items/type")
    (location,) = find_reachable_keywords(compiled).assertions[kind]
    sites = KnownSites(compiled, most=2)
    witnesses: list[Json] = [{"a": 1}, {"list": []}]
    for witness in witnesses:
        sites.add_witness(witness)
    assert kind not in sites
    sites.add_empty(kind, location)
    (site,) = sites.of_assertion(kind)
    assert (site.witness, site.path) == ({"list": []}, ("list", 0))


def test_large_witnesses_cost_more(compiled: CompiledSchema) -> None:
    """Verdicts are paid by size, so that large schemas end in time."""
    sites = KnownSites(compiled, most=2)
    sites.add_witness({"a": 1})
    sites.add_witness({"b": 1, "list": ["x" * 4_000]})
    minimum = _assertion(compiled, "/additionalProperties/minimum")
    small, large = sites.of_assertion(minimum)
    assert sites.cost(small) < 1.01
    assert sites.cost(large) > 2
