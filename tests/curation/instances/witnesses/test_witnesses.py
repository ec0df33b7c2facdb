"""Witnesses: what is promised of each, and that they cover what can be reached."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.data.reached_sites import live_of, reached_of
from curation.core.benchmark import InstanceKind
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import ExtraConstraint, Negation
from curation.instances.constraints.interpretations import make_interpretations
from curation.instances.model import SearchFailure, Witnesses
from curation.instances.witnesses.builder import NOTHING, BuildContext, WitnessBuilder
from curation.instances.witnesses.reach import Guide, SchemaGraph, reached_by
from curation.instances.witnesses.search import (
    Budget,
    WitnessSearch,
    cover,
    find_witnesses,
)
from curation.instances.witnesses.ways_to_fail import ways_to_fail
from curation.json.text import depth
from curation.schema.dialects import DIALECTS
from tests.curation.instances.keywords import SILENT, cases, unreached
from tests.curation.schema_strategies import schemas
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.instances.model import Witness
    from curation.instances.witnesses.builder import Nothing
    from curation.schema.subschemas import SchemaLocation


_CASES = cases()


def _of_kind(found: tuple[Witness, ...], kind: InstanceKind) -> UntypedJson:
    return next(each.value for each in found if each.kind is kind)


def test_every_keyword_has_a_case() -> None:
    """No keyword of any draft is left out of the table."""
    covered = {(dialect, keyword) for dialect, keyword, _ in _CASES}
    wanted = {
        (dialect.name, keyword)
        for dialect in DIALECTS
        for keyword in dialect.effective - SILENT
    }
    assert wanted <= covered


def test_meets_every_keyword(subtests: pytest.Subtests) -> None:
    """A schema that can be met has witnesses, and jsonschema-rs accepts them."""
    for dialect, _, schema in _CASES:
        with subtests.test(dialect=dialect, schema=schema):
            compiled = CompiledSchema.from_json(schema, dialect)
            found = find_witnesses(compiled).witnesses
            assert found
            assert found[0].kind is InstanceKind.MINIMAL
            assert all(compiled.is_valid(each.value) for each in found)


_PERSON = {
    "type": "object",
    "required": ["name", "address"],
    "properties": {
        "nick": {"type": "string"},
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            "required": ["city"],
        },
        "friends": {"type": "array", "items": {"$ref": "#"}},
    },
}


def test_minimal_has_only_what_is_required() -> None:
    """`minimal` holds the required properties and no others."""
    found = find_witnesses(CompiledSchema.from_json(_PERSON, "draft-07")).witnesses
    value = _of_kind(found, InstanceKind.MINIMAL)
    assert list(value) == ["name", "address"]
    assert list(value["address"]) == ["city"]


def test_full_has_every_property_in_order() -> None:
    """`full` holds every optional property, in the order of `properties`."""
    found = find_witnesses(CompiledSchema.from_json(_PERSON, "draft-07")).witnesses
    value = _of_kind(found, InstanceKind.FULL)
    assert list(value) == list(_PERSON["properties"])
    assert list(value["address"]) == ["street", "city"]


def test_recursion_ends() -> None:
    """What recurs is made a few times, not to the bottom of the budget."""
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    value = _of_kind(
        find_witnesses(CompiledSchema.from_json(schema, "2020-12")).witnesses,
        InstanceKind.FULL,
    )
    depth = 0
    while value:
        value, depth = value["next"], depth + 1
    assert 1 <= depth <= 4


def test_takes_the_values_that_the_schema_gives() -> None:
    """Defaults and examples are used where they are valid."""
    schema = {
        "type": "object",
        "properties": {
            "port": {"type": "integer", "default": 8042},
            "bad": {"type": "integer", "default": "none"},
        },
    }
    value = _of_kind(
        find_witnesses(CompiledSchema.from_json(schema, "draft-07")).witnesses,
        InstanceKind.FULL,
    )
    assert value["port"] == 8042
    assert isinstance(value["bad"], int)


def test_the_seed_decides() -> None:
    """The same seed gives the same values, another one others."""
    schema = {"type": "array", "items": {"type": "integer"}, "minItems": 8}
    runs = [
        find_witnesses(CompiledSchema.from_json(schema, "draft-07"), seed=seed)
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_leaves_out_an_optional_property_that_cannot_be() -> None:
    """A property that nothing can meet is absent, and the rest is made."""
    schema = {
        "type": "object",
        "properties": {
            "no": {"allOf": [{"type": "null"}, {"type": "string"}]},
            "a": {},
        },
    }
    value = _of_kind(
        find_witnesses(CompiledSchema.from_json(schema, "draft-07")).witnesses,
        InstanceKind.FULL,
    )
    assert list(value) == ["a"]


_BRANCH = {
    "anyOf": [
        {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}},
        {"type": "null"},
    ]
}


def test_takes_the_branch_that_ends() -> None:
    """In `minimal` the branch of least nesting is taken, wherever it stands."""
    found = find_witnesses(CompiledSchema.from_json(_BRANCH, "draft-04")).witnesses
    # null, of no nesting at all, is empty: the least that is not is taken.
    assert _of_kind(found, InstanceKind.MINIMAL) == {"a": None}


@pytest.mark.parametrize(
    ("schema", "failure"),
    table(__file__, "failures"),
)
def test_names_the_failure(schema: UntypedJson, failure: str) -> None:
    """Where there is no witness, the reason is named and explained."""
    found = find_witnesses(CompiledSchema.from_json(schema, "draft-07"))
    assert found.witnesses == ()
    assert found.failure is SearchFailure(failure)
    assert found.failure.explanation


def test_a_small_budget_is_kept() -> None:
    """A search that runs out of steps says so."""
    schema = {"type": "object", "required": list("abcdefgh")}
    found = find_witnesses(
        CompiledSchema.from_json(schema, "draft-07"), budget=Budget(steps=5)
    )
    assert found.failure is SearchFailure.EXHAUSTED


def test_deep_is_not_endless() -> None:
    """What nests deeply, but ends, is called too large."""
    schema: UntypedJson = {"type": "null"}
    for _ in range(90):
        schema = {"type": "object", "required": ["a"], "properties": {"a": schema}}
    found = find_witnesses(CompiledSchema.from_json(schema, "draft-07"))
    assert found.failure is SearchFailure.TOO_LARGE


_NAMES = st.sampled_from(["b", "a", "d", "c"])
_LEAVES = st.sampled_from(
    [
        {"type": "string", "minLength": 2},
        {"type": "integer", "minimum": 3},
        {"type": "boolean"},
        {"enum": [1, "x", None]},
        {"type": ["null", "number"]},
        {},
    ]
)


def _nested(inner: st.SearchStrategy[UntypedJson]) -> st.SearchStrategy[UntypedJson]:
    members = st.dictionaries(_NAMES, inner, max_size=4)
    objects = members.flatmap(
        lambda given: st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.just(given),
                "required": st.lists(st.sampled_from(list(given)), unique=True)
                if given
                else st.just([]),
            }
        )
    )
    arrays = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner, "minItems": st.integers(0, 3)}
    )
    choices = st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
    return objects | arrays | choices


_SCHEMAS = st.recursive(_LEAVES, _nested, max_leaves=12)


@given(schema=_SCHEMAS, seed=st.integers(0, 3))
def test_schemas_without_contradictions_are_always_met(
    schema: UntypedJson, seed: int
) -> None:
    """Satisfiable schemas have witnesses; the validator accepts each of them."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    first = find_witnesses(compiled, seed=seed)
    assert first.witnesses
    assert all(compiled.is_valid(each.value) for each in first.witnesses)
    assert first == find_witnesses(
        CompiledSchema.from_json(schema, "draft-07"), seed=seed
    )


def _check_order(schema: UntypedJson, value: UntypedJson) -> None:
    if schema.get("type") == "object" and isinstance(value, dict):
        order = [each for each in schema["properties"] if each in value]
        assert list(value)[: len(order)] == order
        for name in order:
            _check_order(schema["properties"][name], value[name])
    if schema.get("type") == "array" and isinstance(value, list):
        for each in value:
            _check_order(schema["items"], each)


@given(schema=_SCHEMAS)
def test_keys_follow_the_order_of_properties(schema: UntypedJson) -> None:
    """In every witness declared names come in the schema's order, others after."""
    for each in find_witnesses(CompiledSchema.from_json(schema, "2020-12")).witnesses:
        _check_order(schema, each.value)


def _check_minimal(
    schema: UntypedJson, value: UntypedJson, *, is_root: bool = True
) -> None:
    if schema.get("type") == "object":
        names = set(schema["required"])
        assert set(value) == names or (is_root and not names and len(value) == 1)
        for name, each in value.items():
            member = schema["properties"].get(name, {})
            _check_minimal(member, each, is_root=False)
    if schema.get("type") == "array":
        least = schema["minItems"]
        assert len(value) == (max(least, 1) if is_root else least)


@given(schema=_SCHEMAS)
def test_minimal_has_required_names_only(schema: UntypedJson) -> None:
    """Where nothing forces more, `minimal` has the required names and items.

    One that would be empty has one name or item all the same.
    """
    found = find_witnesses(CompiledSchema.from_json(schema, "2019-09")).witnesses
    _check_minimal(schema, _of_kind(found, InstanceKind.MINIMAL))


_GOALS = (ExtraConstraint(types=("object",)),)


def test_a_member_stands_below_its_object() -> None:
    """Its path has its name, which is the hint for realistic values."""
    member = BuildContext(path=("a",), allowance=9).member("b", 3)
    assert (member.path, member.name, member.allowance) == (("a", "b"), "b", 3)


def test_an_element_keeps_the_name_of_its_array() -> None:
    """An element of `tags` is made as a tag."""
    tags = BuildContext().member("tags", 9)
    element = tags.member(0, 1, frozenset({b"x"}))
    assert (element.path, element.name) == (("tags", "0"), "tags")
    assert element.avoid == {b"x"}


def test_what_recurs_is_made_small() -> None:
    """The third time that the same goals stand in each other nothing is optional."""
    context = BuildContext(allowance=9)
    for _ in range(2):
        context = context.for_goals(_GOALS)
        assert context.allowance == 9
    context = context.for_goals(_GOALS)
    assert context.allowance == 0
    assert context.scalars_first


def test_what_is_deep_is_made_small() -> None:
    """Below a dozen levels only what is required is made."""
    path = tuple("abcdefghijkl")
    assert BuildContext(path=path, allowance=9).for_goals(_GOALS).allowance == 0
    assert BuildContext(path=path[1:], allowance=9).for_goals(_GOALS).allowance == 9


_DENIED = [
    each for each in cases() if "const" not in str(each[2]) or each[0] != "draft-04"
]


def test_every_keyword_can_be_failed(subtests: pytest.Subtests) -> None:
    """A value is found that the schema refuses."""
    for dialect, _, schema in _DENIED:
        with subtests.test(dialect=dialect, schema=schema):
            compiled = CompiledSchema.from_json(schema, dialect)
            rng = random.Random(1)
            builder = WitnessBuilder(
                compiled=compiled, rng=rng, kind=InstanceKind.MINIMAL, steps=2_000
            )
            value = builder.value((Negation(compiled.root),))
            assert value is not NOTHING
            assert not compiled.is_valid(value)


@pytest.mark.parametrize("schema", [True, {}, {"title": "anything"}])
def test_what_accepts_everything_cannot_be_failed(schema: UntypedJson) -> None:
    """There is no way to fail a schema that asserts nothing."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    assert ways_to_fail(compiled, compiled.root) == []


_EITHER: Json = {
    "type": "array",
    "items": {
        "anyOf": [{"$ref": "#/definitions/page"}, {"$ref": "#/definitions/section"}]
    },
}


def _part(*required: str) -> Json:
    """Return a part of a book, which has others below it."""
    text: Json = {"type": "string"}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {"below": _EITHER, "note": text, "title": text},
    }


_BOOK: Json = {
    "type": "object",
    "required": ["parts"],
    "properties": {"parts": _EITHER},
    "definitions": {"page": _part("title"), "section": _part("below", "title")},
}
#: Rules that name no type: each is an object by its members alone.
_RULES: list[Json] = [
    {
        "properties": {"kind": {"const": kind}, "content": {"$ref": "#"}},
        "required": ["kind", "content"],
    }
    for kind in ("field", "token", "repeat")
]
_BLANK: Json = {"type": "object", "properties": {"kind": {"const": "blank"}}}
_GRAMMAR: Json = {"oneOf": [*_RULES, _BLANK]}
_QUERY: Json = {
    "type": "object",
    "additionalProperties": False,
    "minProperties": 1,
    "properties": {
        "all": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
        "not": {"$ref": "#"},
        "title": {"type": "string"},
    },
}


_NESTING = pytest.mark.parametrize(
    "schema", [_BOOK, _GRAMMAR, _QUERY], ids=["book", "grammar", "query"]
)


@_NESTING
def test_witnesses_of_a_recursive_schema_are_not_deep(schema: Json) -> None:
    """All that can be reached is, by values of a few levels."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    found = find_witnesses(compiled, 0, Budget(covering=16))
    assert not unreached(schema, [witness.value for witness in found.witnesses])
    assert max(depth(witness.value) for witness in found.witnesses) <= 16


@_NESTING
def test_covering_alone_is_not_deep(schema: Json) -> None:
    """Nor where no other witness has reached anything."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    made = cover(make_interpretations(compiled), [], b"seed", rounds=16)
    assert not unreached(schema, made)
    assert max(map(depth, made)) <= 16


_TREE = {
    "$ref": "#/definitions/node",
    "definitions": {
        "node": {
            "type": "object",
            "properties": {
                "left": {"$ref": "#/definitions/node"},
                "right": {"$ref": "#/definitions/node"},
                "leaf": {"type": "array", "items": {"type": "integer"}},
            },
        }
    },
}


def _found(schema: UntypedJson, dialect: str = "draft-07") -> Witnesses:
    compiled = CompiledSchema.from_json(schema, dialect)
    return find_witnesses(compiled, 0, Budget(covering=16))


def _values(found: Witnesses) -> list[Json]:
    """Return the values of witnesses."""
    return [witness.value for witness in found.witnesses]


def _deep(levels: int) -> Json:
    """Return a schema of optional properties inside each other, three a level."""
    schema: Json = {"type": "string"}
    for _ in range(levels):
        schema = {"properties": dict.fromkeys("abc", schema)}
    return schema


def test_elements_of_one_array_take_the_branches_of_their_members() -> None:
    """Forty branches of a property of elements need few witnesses, not one for each."""
    branches: Json = [{"const": f"kind {number}"} for number in range(40)]
    schema: Json = {
        "properties": {
            "steps": {"type": "array", "items": {"$ref": "#/definitions/s"}}
        },
        "definitions": {
            "s": {"type": "object", "properties": {"k": {"anyOf": branches}}}
        },
    }
    found = _found(schema)
    assert not unreached(schema, _values(found))
    assert len(found.witnesses) < 10


@pytest.mark.parametrize(
    "schema",
    table(__file__, "reached"),
)
def test_all_that_can_be_reached_is(schema: UntypedJson) -> None:
    """A count by other code agrees that no site and no branch is left out."""
    found = _found(schema)
    live = live_of(schema, "draft-07")
    values = [witness.value for witness in found.witnesses]
    assert live.sites | live.branches <= reached_of(schema, "draft-07", values)
    assert not unreached(schema, _values(found))


def test_a_recursive_schema_needs_no_more_values_than_it_has_sites() -> None:
    """Where a schema recurs its members are not all made again."""
    found = _found(_TREE)
    texts = [str(witness.value) for witness in found.witnesses]
    covering = [w for w in found.witnesses if w.kind is InstanceKind.COVERING]
    assert len(covering) <= 2
    assert max(map(len, texts)) < 2_000


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "string"}}},
        {"type": ["null", "array"], "items": {"type": "integer"}},
        {"type": "object"},
    ],
)
def test_no_witness_is_empty_where_there_is_another(schema: UntypedJson) -> None:
    """`{}`, `[]` and `null` tell nothing of what the schema says."""
    values = [witness.value for witness in _found(schema).witnesses]
    assert values
    assert not [value for value in values if value in ({}, [], None)]


def test_an_empty_witness_is_kept_where_there_is_no_other() -> None:
    """A schema of nothing but the empty object has that witness."""
    found = _found({"type": "object", "maxProperties": 0})
    assert [witness.value for witness in found.witnesses] == [{}]


@pytest.mark.slow
@given(schemas())
def test_both_counts_agree(schema: UntypedJson) -> None:
    """The maker's count of what is reached is that of the bench, witness by witness."""
    compiled = CompiledSchema.from_json(schema, "2020-12")
    graph = SchemaGraph(compiled)
    targets = {target.pointer for target in graph.targets()}
    for witness in find_witnesses(compiled, 0, Budget(covering=4)).witnesses:
        ours = {place.pointer for place in reached_by(graph, witness.value)}
        theirs = reached_of(schema, "2020-12", [witness.value])
        assert ours & targets == theirs & targets


def test_what_a_search_takes_back_has_no_size() -> None:
    """Of members of which one may be there at most, each is as large as it may be."""
    names = [f"n{number}" for number in range(6)]
    schema: Json = {
        "type": "object",
        "properties": dict.fromkeys(names, _deep(3)),
        "oneOf": [{"required": [name]} for name in names],
    }
    found = _found(schema)
    assert not unreached(schema, _values(found))


def test_there_are_more_rounds_where_the_last_ones_reach_much() -> None:
    """Thirty exclusive objects are reached though few rounds are asked for."""
    some: dict[str, Json] = {name: {"type": "integer"} for name in "abcdef"}
    schema: Json = {
        "oneOf": [
            {"properties": {**some, "k": {"const": kind}}, "required": ["k"]}
            for kind in range(30)
        ]
    }
    compiled = CompiledSchema.from_json(schema, "draft-07")
    found = find_witnesses(compiled, 0, Budget(covering=8))
    assert not unreached(schema, _values(found))
    assert len(found.witnesses) <= 32 + 4


def test_a_search_that_fails_is_followed_by_a_smaller_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What takes more steps than one witness may is reached by several."""
    names = [f"n{number}" for number in range(300)]
    schema: Json = {"properties": {name: {"type": "integer"} for name in names}}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    monkeypatch.setattr("curation.instances.witnesses.search._COVERING_STEPS", 200)
    made = cover(make_interpretations(compiled), [], b"seed", rounds=4)
    assert not unreached(schema, made)
    assert 2 <= len(made) <= 16


def test_few_searches_are_made_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema whose larger witnesses are not found does not take for ever."""
    results = []
    run = WitnessSearch.run

    def counted(search: WitnessSearch, steps: int) -> Json | Nothing:
        results.append(run(search, steps))
        return results[-1]

    monkeypatch.setattr(WitnessSearch, "run", counted)
    monkeypatch.setattr("curation.instances.witnesses.search._IN_VAIN", 450)
    schema: Json = {"properties": {f"n{number}": {} for number in range(1_600)}}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    monkeypatch.setattr("curation.instances.witnesses.search._COVERING_STEPS", 150)
    cover(make_interpretations(compiled), [], b"seed", rounds=16)
    in_vain = results.count(NOTHING)
    assert 1 < in_vain <= 450 // 150 + 1
    assert in_vain < len(results) < 64


def test_values_of_one_schema_hold_one_another_only_while_they_reach_something() -> (
    None
):
    """A search does not go down a recursive schema for what it never meets there."""
    compiled = CompiledSchema.from_json(_TREE, "draft-07")
    graph = SchemaGraph(compiled)
    targets = graph.targets()
    node = compiled.location_at(("definitions", "node"))

    def affords(guide: Guide, levels: int, *reached: SchemaLocation) -> bool:
        if not levels:
            return guide.affords(0, [node])
        with guide.within([node]):
            guide.claim(reached[-levels:][:1])
            return affords(guide, levels - 1, *reached)

    assert affords(Guide(graph, targets.keys(), 9), 2)
    assert not affords(Guide(graph, targets.keys(), 9), 3)
    assert affords(Guide(graph, targets.keys(), 9), 3, *targets)


def test_branches_come_in_another_order_at_each_turn() -> None:
    """Open targets are first, then what leads to one, then the rest."""
    schema = {"oneOf": [{"items": {}}, {"const": 1}, {"items": {}}, {"const": 2}]}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    graph = SchemaGraph(compiled)
    branches = compiled.branches(compiled.root, "oneOf")
    items = [compiled.child(branches[number], ("items",)) for number in (0, 2)]

    def order(turn: int) -> list[int]:
        guide = Guide(graph, {branches[1], *items}, 9, turn=turn)
        return [branches.index(branch) for branch in guide.ordered(branches)]

    assert [order(turn) for turn in (0, 1, 3)] == [
        [1, 0, 2, 3],
        [1, 2, 0, 3],
        [1, 0, 2, 3],
    ]
