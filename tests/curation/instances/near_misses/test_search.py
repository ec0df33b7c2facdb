"""Near misses: one violation each, made from a witness by one edit."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.benchmark import InstanceKind
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.keyword_values import asserted_formats
from curation.instances.dataset.make_instances import make_instances
from curation.instances.judging.violations import (
    MIXED,
    as_near_miss,
    fails_at,
    find_violations,
)
from curation.instances.model import Witness, to_text
from curation.instances.near_misses import search
from curation.instances.near_misses.assertions import find_reachable_keywords
from curation.instances.near_misses.edits import MAX_LENGTH
from curation.instances.near_misses.implications import cannot_fail_alone
from curation.instances.near_misses.search import (
    find_near_misses,
    max_other_misses,
    measure_coverage,
    search_near_misses,
)
from curation.instances.near_misses.sites import member_at
from curation.instances.witnesses.search import Budget, find_witnesses
from curation.json.pointer import parse_tokens
from curation.schema.dialects import DIALECTS
from tests.curation.instances.keywords import cases
from tests.slow_cases import first_fast
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.model import NearMiss

_OBJECT = {"type": "object"}
#: Keyword to schemas in which it can fail alone, in any dialect that knows it.
_ALONE: dict[str, list[UntypedJson]] = dict(table(__file__, "alone"))


def _table() -> list[tuple[str, str, UntypedJson]]:
    found = []
    for dialect in DIALECTS:
        known = dialect.effective
        for keyword, schemas in _ALONE.items():
            for each in schemas if keyword in known else ():
                usable = "prefixItems" not in each or "prefixItems" in known
                listed = isinstance(each.get("items"), list) and "prefixItems" in known
                if usable and not listed:
                    found.append((dialect.name, keyword, each))
        found += [
            (dialect.name, "format", {"format": name, "type": "string"})
            for name in sorted(asserted_formats(dialect))
        ]
        for word in ("minimum", "maximum"):
            flag = "exclusive" + word.capitalize()
            operand = {word: 3, flag: True} if dialect.order == 4 else {flag: 3}
            found.append((dialect.name, flag, {"type": "integer", **operand}))
    return found


def _made(
    schema: UntypedJson, dialect: str = "draft-07", most: int | None = None
) -> list[NearMiss]:
    compiled = CompiledSchema.from_json(schema, dialect)
    return find_near_misses(compiled, find_witnesses(compiled).witnesses, limit=most)


@pytest.mark.slow
@pytest.mark.parametrize("name", first_fast(1, [it.name for it in DIALECTS[::-1]]))
def test_every_keyword_fails_alone(name: str, subtests: pytest.Subtests) -> None:
    """For each assertion there is a value that fails it and nothing else."""
    for dialect, keyword, schema in _table():
        if dialect != name:
            continue
        with subtests.test(keyword=keyword, schema=schema):
            assert keyword in {each.keyword for each in _made(schema, dialect)}


def test_the_table_is_complete() -> None:
    """No keyword that can fail is left out of the table."""
    asserting = {keyword for _, keyword, _ in _table()}
    for dialect in DIALECTS:
        silent = {"properties", "patternProperties", "prefixItems", "allOf"}
        silent |= {"then", "else", "definitions", "$defs", "contentSchema"}
        words = dialect.assertions | set(dialect.applicators)
        assert words - silent <= asserting


#: Schemas of the table in which a keyword fails together with another far from it.
_HARD = frozenset(each.name for each in DIALECTS[1:])


@pytest.mark.slow
@pytest.mark.parametrize("name", first_fast(1, [it.name for it in DIALECTS[::-1]]))
def test_what_every_near_miss_is(name: str, subtests: pytest.Subtests) -> None:
    """It is invalid, fails one keyword, and says which as the validator does.

    No proof says that it cannot be, and no valid instance begins like it, whatever
    follows the character with which it fails.
    """
    for dialect, _, schema in cases():
        if dialect != name:
            continue
        with subtests.test(schema=schema):
            compiled = CompiledSchema.from_json(schema, dialect)
            witnesses = find_witnesses(compiled).witnesses
            found, reasons = search_near_misses(compiled, witnesses)
            others = find_witnesses(compiled, 1, Budget(count=60)).witnesses
            valid = {to_text(witness.value) for witness in (*witnesses, *others)}
            for each in found:
                assert not compiled.is_valid(each.value)
                assert each.keyword != MIXED
                assert as_near_miss(compiled, each.value) == each
                text, position = to_text(each.value), fails_at(compiled, each)
                assert 0 <= position <= len(text)
                begun = text[: position + 1]
                assert position == len(text) or not any(
                    other.startswith(begun) for other in valid
                )
            have = {each.schema_pointer for each in found}
            for pair in find_reachable_keywords(compiled).assertions:
                if pair.pointer in have:
                    assert not cannot_fail_alone(compiled, pair)
            assert have.isdisjoint(reasons)
            measured = measure_coverage(compiled, found, reasons)
            assert {where for _, where, _ in measured.missing} <= reasons.keys()
            assert not measured.missing or dialect in _HARD
            assert (
                measured.covered
                <= measured.possible
                <= measured.pairs - measured.implied
            )
            assert (
                measured.keywords_covered + measured.keywords_implied
                <= measured.keywords
            )


def test_reaches_what_no_witness_shows() -> None:
    """What the given witnesses leave empty is filled first."""
    least = {"properties": {"a": {"minimum": 1}}}
    deep = {"type": "array", "items": {"type": "object", **least}}
    schema = {
        **_OBJECT,
        "properties": {"list": deep},
        "patternProperties": {"^x": least},
    }
    compiled = CompiledSchema.from_json(schema, "draft-07")
    found = find_near_misses(compiled, [Witness(kind=InstanceKind.MINIMAL, value={})])
    pointers = {each.schema_pointer for each in found}
    assert "/properties/list/items/properties/a/minimum" in pointers
    assert "/patternProperties/^x/properties/a/minimum" in pointers


def test_a_property_that_nothing_can_fill() -> None:
    """A property that no value can have has a near miss for each of its keywords."""
    schema = {**_OBJECT, "properties": {"a": {"type": "object", "enum": ["x"]}}}
    keywords = {(each.keyword, each.instance_pointer) for each in _made(schema)}
    assert keywords >= {("type", "/a"), ("enum", "/a"), ("type", "")}


def test_a_forbidden_property() -> None:
    """A property whose schema is `false` fails by being there."""
    found = _made({"properties": {"a": False}})
    assert ("false", "/properties/a", "/a") in {
        (each.keyword, each.schema_pointer, each.instance_pointer) for each in found
    }


def test_bounds_are_crossed_by_one() -> None:
    """What is one too many, too long or too large comes first."""
    schema = {
        **_OBJECT,
        "required": ["n", "s", "l"],
        "properties": {
            "n": {"type": "integer", "maximum": 7},
            "s": {"type": "string", "maxLength": 5},
            "l": {"type": "array", "maxItems": 2},
        },
    }
    by_keyword: dict[str, UntypedJson] = {
        each.keyword: each.value for each in _made(schema)
    }
    assert by_keyword["maximum"]["n"] == 8
    assert len(by_keyword["maxLength"]["s"]) == 6
    assert len(by_keyword["maxItems"]["l"]) == 3


def test_the_order_is_that_of_tokens() -> None:
    """First what an engine must stop early, last what it sees at the closing brace."""
    schema = {
        **_OBJECT,
        "required": ["a"],
        "properties": {"a": {"type": "string", "maxLength": 3, "pattern": "^x"}},
        "additionalProperties": False,
    }
    found = dict.fromkeys(each.keyword for each in _made(schema))
    assert list(found) == [
        "additionalProperties",
        "type",
        "maxLength",
        "required",
        "pattern",
    ]


def test_the_cap_serves_every_keyword_first() -> None:
    """With more assertions than the cap allows, no keyword is left out."""
    members = {f"p{each}": {"type": "integer", "minimum": 0} for each in range(40)}
    schema = {**_OBJECT, "properties": members, "required": ["p39"]}
    found = Counter(each.keyword for each in _made(schema, most=6))
    assert found.keys() == {"type", "minimum", "required"}
    assert found["minimum"] + found["required"] == 6


def test_the_type_is_half_of_the_others() -> None:
    """`type`, which every engine refuses at the first byte, leaves room."""
    members = {f"p{each}": {"type": "integer", "minimum": 0} for each in range(40)}
    found = Counter(each.keyword for each in _made({**_OBJECT, "properties": members}))
    assert found["type"] == found["minimum"] // 2 > 10
    only = {f"p{each}": {"type": "integer"} for each in range(40)}
    places = [each.instance_pointer for each in _made({"properties": only})]
    assert places == ["/p0", "/p32", "/p16"]


def test_large_schemas_get_more() -> None:
    """The maximum grows with the pairs of a place and a keyword."""
    members = {f"p{each}": {"minimum": 0, "maximum": 9} for each in range(60)}
    found = _made({**_OBJECT, "properties": members})
    assert 30 < sum(each.keyword != "type" for each in found) == max_other_misses(121)


def test_every_required_name_is_left_out() -> None:
    """Names of one `required` are near misses of their own, up to three."""
    schema = {"required": ["a", "b", "c", "d"]}
    values: list[UntypedJson] = [each.value for each in _made(schema)]
    missing = [{*"abcd"} - {*value} for value in values if value]
    assert missing == [{"d"}, {"c"}, {"b"}]


def test_a_violation_shows_in_several_parts_of_the_text() -> None:
    """A keyword fails early in one near miss, and at the end of another one."""
    names = [f"p{each}" for each in range(12)]
    members: dict[str, UntypedJson] = {name: {"type": "integer"} for name in names}
    schema = {"properties": {**members, "p3": {"maximum": 5}}}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    whole = Witness(kind=InstanceKind.FULL, value=dict.fromkeys(names, 1))
    lengths = {
        len(each.value)
        for each in find_near_misses(compiled, [whole])
        if each.keyword == "maximum" and isinstance(each.value, dict)
    }
    assert lengths == {4, 12}


def test_goes_inside_of_branches() -> None:
    """Where there is room, what stands in a branch is violated too."""
    deep = {"type": "object", "required": ["x"], "properties": {"x": {"type": "null"}}}
    schema = {"properties": {"a": {"anyOf": [{"const": 1}, {"items": deep}]}}}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    one = [Witness(kind=InstanceKind.FULL, value={"a": [{"x": None}]})]
    found = find_near_misses(compiled, one)
    assert {each.keyword for each in found} == {"anyOf"}
    made: list[UntypedJson] = [each.value for each in found]
    values = [each["a"] for each in made]
    assert [{}] in values
    assert any(isinstance(each[0], dict) and each[0].get("x") for each in values)
    assert len({repr(each) for each in values}) == len(values) > 3


def test_one_violation_of_two_schemas_is_one_near_miss() -> None:
    """Where two schemas refuse the same, there is one near miss for both."""
    found = _made({"allOf": [{"type": "string"}, {"type": "string"}]})
    assert [each.keyword for each in found] == ["type"]
    assert len(found[0].keywords) == 2


def test_no_witness_no_near_miss() -> None:
    """Without a witness there is nothing to edit."""
    assert (
        find_near_misses(CompiledSchema.from_json({"type": []}, "draft-07"), []) == []
    )


def test_same_seed_same_near_misses() -> None:
    """The seed decides, and the run does not."""
    schema = {**_OBJECT, "properties": {"a": {"type": "string"}, "b": {"minimum": 1}}}
    assert _made(schema) == _made(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"maxLength": 10**9},
        {"type": "array", "maxItems": 10**9, "items": {"type": "integer"}},
        {"type": "object", "maxProperties": 10**9},
        {"enum": [f"value {each}" for each in range(20_000)]},
        {"pattern": "^(a+)+$", "maxLength": MAX_LENGTH + 1},
        {"pattern": "(?<=a)b\\p{L}$"},
    ],
)
def test_giants_are_small_or_left_out(schema: UntypedJson) -> None:
    """A bound too large to be crossed costs nothing and gives no giant."""
    found = _made(schema)
    assert all(len(str(each.value)) < 4 * MAX_LENGTH for each in found)


def test_references_that_double_at_every_step() -> None:
    """A value of which the validator would list 2**30 errors is not asked about."""
    chain: dict[str, UntypedJson] = {
        f"d{each}": {"allOf": [{"$ref": f"#/definitions/d{each + 1}"}] * 2}
        for each in range(30)
    }
    chain["d30"] = {"type": "integer"}
    schema = {"$ref": "#/definitions/d0", "definitions": chain}
    compiled = CompiledSchema.from_json(schema, "draft-07")
    one = [Witness(kind=InstanceKind.MINIMAL, value=1)]
    assert find_near_misses(compiled, one) == []


_SCALARS: list[UntypedJson] = [
    {"type": "string"},
    {"type": "integer", "minimum": 2, "maximum": 9},
    {"enum": ["a", "b", 3]},
    {"type": "string", "pattern": "^[a-c]+$", "maxLength": 4},
    {"type": ["null", "number"]},
    {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    {"not": {"type": "boolean"}},
    {"type": "string", "format": "date"},
    {},
]


def _nested(inner: st.SearchStrategy[UntypedJson]) -> st.SearchStrategy[UntypedJson]:
    names = st.sampled_from(["a", "b", "c"])
    objects = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(names, inner)},
        optional={
            "required": st.lists(names, unique=True, min_size=1),
            "additionalProperties": st.one_of(st.just(value=False), inner),
            "minProperties": st.integers(0, 2),
        },
    )
    arrays = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(2, 4),
            "uniqueItems": st.booleans(),
        },
    )
    both = st.lists(inner, min_size=1, max_size=2)
    return objects | arrays | st.fixed_dictionaries({"allOf": both})


_SCHEMAS = st.recursive(st.sampled_from(_SCALARS), _nested, max_leaves=6)


@given(schema=_SCHEMAS, seed=st.integers(0, 3))
def test_laws(schema: UntypedJson, seed: int) -> None:
    """A near miss fails one keyword, and differs from a witness in one value only.

    What stands behind that value may be left out.
    """
    compiled = CompiledSchema.from_json(schema, "draft-07")
    found = find_witnesses(compiled, seed).witnesses
    with pytest.MonkeyPatch.context() as given_only:
        given_only.setattr(search, "_WITNESSES", 0)
        near_misses = find_near_misses(compiled, found, seed)
    for each in near_misses:
        violations = find_violations(compiled, each.value)
        assert {(one.keyword, one.instance_pointer) for one in violations} == {
            (each.keyword, each.instance_pointer)
        }
        assert any(_differ_at(one.value, each) for one in found)


def _differ_at(witness: UntypedJson, case: NearMiss) -> bool:
    """Return whether two values are the same but for the value that fails.

    One that must not be there at all is told by its holder.
    """
    path = _path(case.value, case.instance_pointer)
    return any(_same_outside(witness, case.value, each) for each in (path, path[:-1]))


def _same_outside(
    one: UntypedJson, other: UntypedJson, path: tuple[str | int, ...]
) -> bool:
    if not path:
        return True
    head = path[0]
    if isinstance(one, dict) and isinstance(other, dict):
        names = list(one)
        cut = names[names.index(head) :] if head in one else []
        names = [name for name in (*one, *other) if name not in cut or name in other]
        here = all(one.get(e, 0) == other.get(e, 0) for e in names if e != head)
    elif isinstance(one, list) and isinstance(other, list) and isinstance(head, int):
        rest = [each for each in range(len(other)) if each != head]
        here = len(one) >= len(other) and all(one[e] == other[e] for e in rest)
    else:
        return False
    return here and _same_outside(
        member_at(one, head), member_at(other, head), path[1:]
    )


def _path(value: UntypedJson, text: str) -> tuple[str | int, ...]:
    path: list[str | int] = []
    for token in parse_tokens(text):
        step = int(token) if isinstance(value, list) else token
        path.append(step)
        value = member_at(value, step)
    return tuple(path)


@pytest.mark.parametrize("keyword", ["const", "minimum", "multipleOf", "enum"])
def test_an_integer_beyond_doubles_crashes_nothing(keyword: str) -> None:
    """It has no half; other edits are tried."""
    large = 10**400
    value = [large] if keyword == "enum" else large
    for more in ({}, {"type": "integer"}, {"not": {"type": "integer"}}):
        made = make_instances(json.dumps({keyword: value, **more}), "2020-12", 0)
        assert "crashed" not in repr(made)
