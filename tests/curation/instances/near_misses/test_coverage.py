"""Edits of values, and implied keywords: each proof proves what it says."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.benchmark import InstanceKind
from curation.core.documents import ABSENT
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import conjoin
from curation.instances.judging.violations import find_violations
from curation.instances.near_misses.assertions import Assertion, find_reachable_keywords
from curation.instances.near_misses.edits import EDITS, EditTarget, is_complete
from curation.instances.near_misses.implications import cannot_fail_alone
from curation.instances.near_misses.sites import (
    KnownSites,
    edit_sites,
    goals_for_path,
    member_at,
    with_edit,
)
from curation.instances.witnesses.builder import NOTHING, WitnessBuilder
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.instances.near_misses.edits import Edit


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
    table(__file__, "first_edits"),
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
    sites = KnownSites(compiled)
    sites.add_witness({"a": 1, "b": 2, "c": 3, "d": 4})
    minimum = _assertion(compiled, "/additionalProperties/minimum")
    assert minimum in sites
    paths = [site.path for site in sites.of_assertion(minimum)]
    assert paths == [("a",), ("b",), ("c",)]


def test_a_forbidden_property_is_a_site_without_a_value(
    compiled: CompiledSchema,
) -> None:
    """Whatever is put there is refused."""
    sites = KnownSites(compiled)
    sites.add_witness({"list": [""]})
    (site,) = sites.of_assertion(_assertion(compiled, "/properties/no"))
    assert (site.path, site.value) == (("no",), None)


def test_an_empty_site_is_taken_where_a_value_can_be_put(
    compiled: CompiledSchema,
) -> None:
    """An element only behind the last one, in the first witness that has room."""
    kind = _assertion(compiled, "/properties/list/items/type")
    (location,) = find_reachable_keywords(compiled).assertions[kind]
    sites = KnownSites(compiled)
    witnesses: list[Json] = [{"a": 1}, {"list": []}]
    for witness in witnesses:
        sites.add_witness(witness)
    assert kind not in sites
    sites.add_empty(kind, location)
    (site,) = sites.of_assertion(kind)
    assert (site.witness, site.path) == ({"list": []}, ("list", 0))


def test_large_witnesses_cost_more(compiled: CompiledSchema) -> None:
    """Verdicts are paid by size, so that large schemas end in time."""
    sites = KnownSites(compiled)
    sites.add_witness({"a": 1})
    sites.add_witness({"b": 1, "list": ["x" * 4_000]})
    minimum = _assertion(compiled, "/additionalProperties/minimum")
    small, large = sites.of_assertion(minimum)
    assert sites.cost(small) < 1.01
    assert sites.cost(large) > 2


#: Schema, pointer of a keyword at its root, and whether it cannot fail alone.
_CASES: list[tuple[UntypedJson, str, bool]] = table(__file__, "proofs")


def _is_implied(schema: UntypedJson, pointer: str) -> bool:
    compiled = CompiledSchema.from_json(schema, "draft-07")
    reachable = find_reachable_keywords(compiled)
    for pair in reachable.assertions:
        if pair.pointer == pointer:
            return cannot_fail_alone(compiled, pair)
    raise AssertionError(pointer)


def test_proofs(subtests: pytest.Subtests) -> None:
    """Each proof holds where it should and where one thing is other it does not."""
    for schema, pointer, is_implied in _CASES:
        with subtests.test(schema=schema, pointer=pointer):
            assert _is_implied(schema, pointer) is is_implied


def test_a_proof_must_hold_for_every_value_that_the_keyword_is_about() -> None:
    """A definition used beside an enum and without one can fail alone."""
    shared = {"type": "string"}
    beside = {"allOf": [{"$ref": "#/definitions/t"}, {"enum": ["a"]}]}
    schema = {
        "definitions": {"t": shared},
        "properties": {"a": beside, "b": {"$ref": "#/definitions/t"}},
    }
    assert not _is_implied(schema, "/definitions/t/type")
    only = {"definitions": {"t": shared}, "properties": {"a": beside}}
    assert _is_implied(only, "/definitions/t/type")


_NAMES = st.sampled_from(["a", "b", "c"])
_VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 2.5, -3, "", "a", "ab", "2024-05-06"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3)
    ),
    max_leaves=5,
)
_TYPES = st.sampled_from(
    ["string", "integer", "number", "object", "array", "boolean", "null"]
)
_LOOSE = st.fixed_dictionaries(
    {},
    optional={
        "type": _TYPES | st.lists(_TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(_VALUES, min_size=1, max_size=3),
        "minimum": st.integers(-3, 3),
        "exclusiveMaximum": st.integers(-3, 3),
        "multipleOf": st.sampled_from([1, 0.5, 2]),
        "minLength": st.integers(0, 3),
        "maxLength": st.integers(0, 3),
        "pattern": st.sampled_from(["^a*$", "a", "^.{1,2}$", ".*", "^$"]),
        "format": st.sampled_from(["date", "made-up"]),
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(0, 2),
        "uniqueItems": st.just(value=True),
        "contains": st.sampled_from([{"const": 1}, {}]),
        "required": st.lists(_NAMES, min_size=1, max_size=2, unique=True),
        "minProperties": st.integers(0, 2),
        "maxProperties": st.integers(0, 2),
        "properties": st.dictionaries(_NAMES, st.just({}), max_size=2),
        "additionalProperties": st.just(value=False),
        "propertyNames": st.sampled_from([{"enum": ["a"]}, {"minLength": 1}]),
        "dependencies": st.dictionaries(_NAMES, st.lists(_NAMES, unique=True)),
    },
)
_SCHEMAS = st.builds(
    lambda one, rest: {**one, **rest},
    _LOOSE,
    st.fixed_dictionaries(
        {},
        optional={
            "anyOf": st.lists(_LOOSE, min_size=1, max_size=2),
            "oneOf": st.lists(_LOOSE, min_size=1, max_size=2),
            "not": _LOOSE,
            "allOf": st.lists(_LOOSE, min_size=1, max_size=2),
        },
    ),
)


@pytest.mark.slow
@given(schema=_SCHEMAS, values=st.lists(_VALUES, min_size=4, max_size=12))
def test_proofs_are_sound(schema: UntypedJson, values: list[UntypedJson]) -> None:
    """No value fails, alone, a keyword that is said never to fail alone."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    reachable = find_reachable_keywords(compiled)
    proven = {
        pair.pointer
        for pair in reachable.assertions
        if cannot_fail_alone(compiled, pair)
    }
    for value in values:
        violations = find_violations(compiled, value)
        if len({(each.keyword, each.instance_pointer) for each in violations}) == 1:
            assert not {each.schema_pointer for each in violations} & proven
