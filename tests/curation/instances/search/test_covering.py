"""Covering witnesses: all that can be reached is, and the rest is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from bench.data.reached_sites import live_of, reached_of
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.interpretations import Interpretations
from curation.instances.search.builder import WitnessSearch
from curation.instances.search.context import NOTHING
from curation.instances.search.reach import Guide, SchemaGraph, reached_by
from curation.instances.search.witnesses import (
    Budget,
    CoveringBudget,
    cover,
    find_witnesses,
)
from curation.instances.values.model import InstanceKind, Witnesses
from tests.curation.instances.keywords import unreached
from tests.curation.schema_strategies import schemas

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.instances.search.context import Nothing
    from curation.schema.subschemas import SchemaLocation

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
    [
        {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "array"}]},
        {
            "items": {
                "oneOf": [
                    {"const": 1},
                    {"const": 2},
                    {"type": "object", "properties": {"a": {}}},
                ]
            }
        },
        {"properties": {"a": {"items": [{}, {"items": {"type": "null"}}]}}},
        {"patternProperties": {"^x": {"properties": {"deep": {}}}}},
        {"additionalProperties": {"anyOf": [{"type": "null"}, {"type": "boolean"}]}},
        {
            "properties": {"k": {"type": "boolean"}},
            "if": {"required": ["k"], "properties": {"k": {"const": True}}},
            "then": {"properties": {"t": {"type": "null"}}, "required": ["t"]},
            "else": {"properties": {"e": {"type": "null"}}},
        },
        {"dependencies": {"a": {"properties": {"b": {"type": "null"}}}}},
        {"type": ["string", "array", "object"], "items": {}, "properties": {"a": {}}},
        {
            "type": "object",
            "properties": {"first": {"maxItems": 1, "items": {"type": "null"}}},
            "patternProperties": {
                ".*": {
                    "type": "array",
                    "items": {
                        "type": ["null", "object"],
                        "properties": {"deep": {"type": "null"}},
                    },
                }
            },
        },
        _TREE,
        _deep(5),
    ],
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


def test_a_search_that_fails_is_followed_by_a_smaller_one() -> None:
    """What takes more steps than one witness may is reached by several."""
    names = [f"n{number}" for number in range(300)]
    schema: Json = {"properties": {name: {"type": "integer"} for name in names}}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    budget = CoveringBudget(steps=200)
    made = cover(Interpretations.of(compiled), [], b"seed", rounds=4, budget=budget)
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
    schema: Json = {"properties": {f"n{number}": {} for number in range(1_600)}}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    budget = CoveringBudget(steps=150)
    cover(Interpretations.of(compiled), [], b"seed", rounds=16, budget=budget)
    in_vain = results.count(NOTHING)
    assert in_vain == 8
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
