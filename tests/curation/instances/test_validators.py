"""The judge: two validators, formats on and off, patterns by ECMA-262."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
from typing import TYPE_CHECKING, cast

import pytest
from rpds import HashTrieMap

import curation.instances
from curation.core.benchmark import InstanceKind
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.dataset.make_instances import make_instances
from curation.instances.judging.grading import grade, judge_examples
from curation.instances.judging.validators import (
    ECMA_VALIDATORS,
    Memory,
    Verdicts,
    is_match,
    verdicts,
)
from curation.instances.model import InstanceRow, Witness
from curation.schema.dialects import DIALECTS, DRAFT_07

if TYPE_CHECKING:
    from jsonschema import FormatChecker

    from curation.core.json_types import UntypedJson


_EACH = [each.name for each in DIALECTS]


def _ask(
    schema: UntypedJson, value: UntypedJson, dialect: str = "draft-07"
) -> Verdicts:
    return verdicts(
        CompiledSchema.from_json(schema, dialect), value, ask_jsonschema=True
    )


def _agree(said: Verdicts) -> bool:
    """Return whether all that were asked say the same, formats on and formats off."""
    return (
        not said.error
        and said.jsonschema in (None, said.jsonschema_rs)
        and said.jsonschema_plain in (None, said.jsonschema_rs_plain)
    )


@pytest.mark.parametrize("dialect", _EACH)
def test_formats_count_only_where_they_are_on(dialect: str) -> None:
    """A broken format is refused with formats on and accepted with formats off."""
    found = _ask({"format": "ipv4"}, "256.0.0.1", dialect)
    assert (found.jsonschema_rs, found.jsonschema_rs_plain) == (False, True)
    assert (found.jsonschema, found.jsonschema_plain) == (False, True)
    assert _agree(found)


def test_what_is_said_of_one_value_does_not_hang_on_the_one_before() -> None:
    """A validator is made once for a schema, and asked about each value."""
    compiled = CompiledSchema.from_json({"format": "date", "minLength": 3}, "draft-07")
    said = [
        verdicts(compiled, value, ask_jsonschema=True)
        for value in ("tomorrow", "2020-02-02", "", "tomorrow")
    ]
    assert [(each.jsonschema, each.jsonschema_plain) for each in said] == [
        (False, True),
        (True, True),
        (False, False),
        (False, True),
    ]
    assert all(_agree(each) for each in said)


@pytest.mark.parametrize("dialect", _EACH)
def test_both_read_patterns_as_ecma_262(dialect: str) -> None:
    r"""`$` does not match before a line feed, and `\d` matches ASCII digits only."""
    for pattern, text in (("^a$", "a\n"), ("^\\d$", "\u0663"), ("^\\w$", "\u00e9")):
        found = _ask({"pattern": pattern}, text, dialect)
        assert (found.jsonschema_rs, found.jsonschema) == (False, False)


@pytest.mark.parametrize("dialect", _EACH)
def test_names_are_matched_as_ecma_262(dialect: str) -> None:
    """PatternProperties and additionalProperties see the same names."""
    closed = {"patternProperties": {"^a$": {}}, "additionalProperties": False}
    for name, valid in (("a", True), ("a\n", False)):
        found = _ask(closed, {name: 1}, dialect)
        assert (found.jsonschema_rs, found.jsonschema) == (valid, valid)
    typed = {"patternProperties": {"^a$": {"type": "null"}}}
    assert _ask(typed, {"a": 1}, dialect).jsonschema is False
    assert _ask(typed, {"a\n": 1}, dialect).jsonschema is True
    rest = {"additionalProperties": {"type": "null"}, "properties": {"a": {}}}
    assert _ask(rest, {"a": 1, "b": 1}, dialect).jsonschema is False
    assert _ask(rest, [], dialect).jsonschema is True


def test_pattern_properties_are_evaluated() -> None:
    """What patternProperties matches by ECMA-262 is no unevaluated property."""
    schema = {"patternProperties": {"^\\p{L}$": {}}, "unevaluatedProperties": False}
    assert _ask(schema, {"\u00e9": 1}, "2020-12").jsonschema is True


_LETTERS: UntypedJson = {"patternProperties": {"^\\p{L}$": {}}}
_EVALUATES: list[tuple[UntypedJson, UntypedJson, bool]] = [
    (_LETTERS, {"\u00e9": 1}, True),
    (_LETTERS, {"1": 1}, False),
    ({"$ref": "#/$defs/a", "$defs": {"a": _LETTERS}}, {"\u00e9": 1}, True),
    ({"allOf": [_LETTERS, {"properties": {"1": {}}}]}, {"1": 1, "a": 1}, True),
    ({"anyOf": [{**_LETTERS, "required": ["b"]}, True]}, {"a": 1}, False),
    ({"anyOf": [{**_LETTERS, "required": ["b"]}, True]}, {"a": 1, "b": 1}, True),
    ({"if": {"required": ["a"]}, "then": _LETTERS}, {"a": 1}, True),
    ({"if": {"required": ["a"]}, "else": _LETTERS}, {"b": 1}, True),
    ({"if": _LETTERS, "then": {}}, {"b": 1}, True),
    ({"dependentSchemas": {"a": _LETTERS}}, {"a": 1, "b": 1}, True),
    ({"dependentSchemas": {"a": _LETTERS}}, {"b": 1}, False),
    ({"additionalProperties": True}, {"1": 1}, True),
    ({}, [], True),
]


@pytest.mark.parametrize("dialect", ["2019-09", "2020-12"])
@pytest.mark.parametrize(("schema", "value", "valid"), _EVALUATES)
def test_unevaluated_properties_know_the_same_names(
    schema: UntypedJson, value: UntypedJson, dialect: str, *, valid: bool
) -> None:
    """Names are evaluated wherever a schema of the same object that holds says so."""
    found = _ask({**schema, "unevaluatedProperties": False}, value, dialect)
    assert (found.jsonschema_rs, found.jsonschema) == (valid, valid)


def test_a_lone_bracket_is_read_without_the_flag() -> None:
    """A pattern that is legal only without the flag `u` has its looser meaning."""
    assert is_match("^]$", "]")


def test_nothing_is_fetched() -> None:
    """A reference that leads out is an error, never a request."""
    schema = {"properties": {"a": {"$ref": "#/definitions/x"}}}
    schema["definitions"] = {"x": {"type": "string"}}
    assert _ask(schema, {"a": 1}).jsonschema is False


def test_jsonschema_is_asked_only_if_wanted() -> None:
    """Without the question there is no verdict of jsonschema, and no dispute."""
    compiled = CompiledSchema.from_json({"type": "string"}, "draft-07")
    found = verdicts(compiled, 1, ask_jsonschema=False)
    assert found.jsonschema is None
    assert _agree(found)
    assert json.loads(found.text)["jsonschema"] == [None, None]


def test_a_failing_validator_gives_a_reason() -> None:
    """What jsonschema raises stands in place of a verdict."""
    value: UntypedJson = 1
    for _ in range(5_000):
        value = [value]
    found = _ask({"items": {"$ref": "#"}}, value)
    assert found.jsonschema is None
    assert found.error
    assert not _agree(found)
    assert "error" in json.loads(found.text)


def test_differences_are_kept() -> None:
    """draft-04 has no format `date`, but jsonschema-rs asserts it."""
    found = _ask({"format": "date"}, "2024-13-01", "draft-04")
    assert (found.jsonschema_rs, found.jsonschema) == (False, True)
    assert not _agree(found)


@pytest.mark.parametrize("more", [0, 100])
@pytest.mark.parametrize(
    ("last", "unique"), [(1.0, False), (True, True), ({"b": 1}, True), ([1], True)]
)
def test_unique_items_are_compared_alike_in_long_and_short_arrays(
    more: int, last: UntypedJson, *, unique: bool
) -> None:
    """Long arrays are compared another way; equality is JSON Schema's in both."""
    compiled = CompiledSchema.from_json({"uniqueItems": True}, "2020-12")
    value = [1, {"a": 1}, *(f"item {each}" for each in range(more)), last]
    said = verdicts(compiled, value, ask_jsonschema=True)
    assert _agree(said)
    assert said.jsonschema is unique


class _DeepKey:
    """A key that cannot be compared any more, as where Python's stack ends."""

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        raise RecursionError


def test_a_panic_at_the_end_of_the_stack_gives_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The map of a registry panics there, which is no `Exception`."""

    def is_valid(*_: object) -> bool:
        made: HashTrieMap[object, int] = HashTrieMap()
        return bool(made.insert(_DeepKey(), 1).insert(_DeepKey(), 2))

    monkeypatch.setattr(ECMA_VALIDATORS["draft-07"], "is_valid", is_valid)
    compiled = CompiledSchema.from_json({"type": "string"}, "draft-07")
    said = verdicts(compiled, "a", ask_jsonschema=True)
    assert said.error.startswith("RecursionError: __eq__ failed")


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_a_branch_with_an_identifier_is_a_resource_of_its_own(keyword: str) -> None:
    """What it refers to is its own, for both validators."""
    branch = {
        "$id": "http://x.example/a",
        "$ref": "#/$defs/n",
        "$defs": {"n": {"type": "integer"}},
    }
    schema = {keyword: [branch], "$defs": {"n": {"type": "string"}}}
    for value in (1, "s"):
        assert _agree(_ask(schema, value, "2020-12"))


@pytest.mark.parametrize("dialect", ["draft-04", "2020-12"])
def test_a_value_is_judged_once_by_a_definition(dialect: str) -> None:
    """Two branches at each of twelve levels lead to one leaf, not to 4,096."""
    levels = 12
    definitions: dict[str, UntypedJson] = {str(levels): {"format": "date"}}
    for level in range(levels):
        below: UntypedJson = {"$ref": f"#/definitions/{level + 1}"}
        several: UntypedJson = {"allOf": [below, {"type": "string"}]}
        definitions[str(level)] = {"not": {"oneOf": [below, several]}}
    schema: UntypedJson = {"$ref": "#/definitions/0", "definitions": definitions}
    make = ECMA_VALIDATORS[dialect]
    asked: list[object] = []

    class Formats:
        def check(self, instance: object, _name: str) -> None:
            asked.append(instance)

    memory = Memory(formats=cast("FormatChecker", Formats()), is_static=True)
    assert make(schema, format_checker=memory).is_valid("2026-11-29")
    assert asked == ["2026-11-29"]


def test_each_refusal_has_its_keyword() -> None:
    """Equal values count once, and what is no JSON cannot be judged."""
    schema = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 3}}}
    compiled = CompiledSchema.from_json(schema, "2020-12")
    texts = ['{"a": 1}', '{"a": 1.0}', '{"a": 4}', '{"a": "x"}', "[]", "{"]
    accepted, refused = judge_examples(compiled, texts)
    assert [witness.value for witness in accepted] == [{"a": 1}]
    assert refused == {"cannot be judged": 1, "maximum": 1, "type": 2}


def test_what_is_given_is_a_witness_of_its_own_kind() -> None:
    """Once, also where a search finds it."""
    made = make_instances('{"const": 5}', "2020-12", examples=("5", "6"))
    assert [(row.kind, row.value) for row in made.witnesses] == [("given", 5)]
    assert made.examples_refused == {"const": 1}
    assert make_instances('{"const": 5}', "2020-12").examples_refused is None


def test_an_instance_that_is_no_json_costs_no_other_its_grade() -> None:
    """A number beyond doubles, and NaN."""
    graded = grade('{"type": "array"}', "draft-07", ["[1]", "[1e400]", "[NaN]"])
    assert isinstance(graded, list)
    good, *odd = graded
    assert isinstance(good, InstanceRow)
    assert good.valid
    assert all(isinstance(error, str) for error in odd)


_MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(
        curation.instances.__path__, "curation.instances."
    )
)

#: Names that examples need not import.
_NAMES = {name.__name__: name for name in (CompiledSchema, InstanceKind, Witness)} | {
    "DRAFT_07": DRAFT_07
}


@pytest.mark.parametrize("name", _MODULES)
def test_every_example_gives_what_it_says(name: str) -> None:
    """A reader who types an example gets the result that stands below it."""
    module = importlib.import_module(name)
    assert doctest.testmod(module, extraglobs=_NAMES).failed == 0
