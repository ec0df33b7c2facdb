"""The Python representation: run in a child process, and true to its schema."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.instances.dataset.make_instances import make_instances
from evaluation.data.instance_store import recorded_instances
from evaluation.suites.concodeeval.python_code import (
    Inexpressible,
    class_name,
    field_name,
    write_python,
)
from evaluation.suites.concodeeval.schemas import generate_schemas
from tests.evaluation.suites.concodeeval.drawn import drawn_schemas, made_schemas
from tests.evaluation.suites.concodeeval.python_runner.python_runner import (
    compare_python,
)

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.records import Instance


def _code(schema: Json) -> str:
    code = write_python(schema)
    assert isinstance(code, str)
    return code


def _instances(schema: Json) -> tuple[Instance, ...]:
    return recorded_instances(make_instances(json.dumps(schema), "2020-12"))


_REAL: list[Json] = [
    {
        "type": "object",
        "properties": {
            "class": {"type": "string", "minLength": 2},
            "a b": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
            "inner": {
                "type": "object",
                "properties": {"kind": {"enum": ["x", "y", None]}},
                "required": ["kind"],
            },
            "either": {"type": ["number", "null"]},
            "schema": {"const": "v1"},
            "\n'); import os #": {"type": "boolean"},
        },
        "required": ["class", "inner"],
        "additionalProperties": {"type": "string"},
    },
    {"type": "array", "contains": {"type": "object", "properties": {"a": {}}}},
]


def test_the_code_accepts_and_refuses_what_the_schema_does() -> None:
    """Witnesses are accepted; of near misses those that only a comment refuses."""
    samples = made_schemas()[::2]
    pairs = [(_code(json.loads(one.constraint)), one.instances) for one in samples]
    pairs += [(_code(schema), _instances(schema)) for schema in _REAL]
    for (code, instances), found in zip(pairs, compare_python(pairs), strict=True):
        assert not found.error, code
        assert not found.differing, code
        assert found.agreed + len(found.rounded) == len(instances)


@pytest.mark.slow
def test_the_code_of_the_whole_suite_is_true_to_its_schemas() -> None:
    """600 schemas: but for rounded multiples every instance is judged as it must be."""
    samples = list(generate_schemas())
    pairs = [(_code(json.loads(one.constraint)), one.instances) for one in samples]
    found = list(compare_python(pairs, jobs=2))
    assert not any(one.error or one.differing for one in found)
    assert sum(len(one.rounded) for one in found) < 20


def test_what_pydantic_cannot_say_is_listed_and_commented() -> None:
    """A format, and how many elements are of a kind, stand in comments."""
    code = _code(
        {
            "type": "array",
            "contains": {"type": "string", "format": "date"},
            "minContains": 2,
        }
    )
    assert "# contains: Item" in code
    assert "# minContains: 2" in code
    assert '# format: "date"' in code


def test_a_code_that_does_not_run_is_told() -> None:
    """It is an error of that representation, and the others go on."""
    codes = [("raise ValueError('no')", ())] * 2
    assert ["no" in found.error for found in compare_python(codes)] == [True, True]


@settings(max_examples=25)
@given(st.text(), st.text())
def test_names_of_strangers_say_nothing_in_code(name: str, text: str) -> None:
    """Whatever a property is called, the code is one class with one field."""
    schema: Json = {"type": "object", "properties": {name: {"enum": [text]}}}
    tree = ast.parse(_code(schema))
    (model,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    fields = [node for node in model.body if isinstance(node, ast.AnnAssign)]
    assert len(fields) == 1
    assert len(model.body) == 2


@settings(max_examples=25)
@given(drawn_schemas)
def test_the_code_of_every_family_compiles(schema: Json) -> None:
    """It is Python, whether something satisfies the schema or not."""
    compile(_code(schema), "<representation>", "exec")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("size", "size"),
        ("class", "field_7"),
        ("json", "field_7"),
        ("model_config", "field_7"),
        ("_private", "field_7"),
        ("Any", "field_7"),
        ("größe", "field_7"),
        ("", "field_7"),
    ],
)
def test_a_field_has_its_propertys_name_where_that_is_safe(
    name: str, expected: str
) -> None:
    """Keywords, pydantic's own names and what is no identifier become aliases."""
    assert field_name(name, 7) == expected


def test_no_class_hides_another() -> None:
    """A name that is taken gets a number; one that is none, a name."""
    taken = {"Schema"}
    names = [class_name(hint, taken) for hint in ("schema", "item", "item", "1", "ö")]
    assert names == ["Schema2", "Item", "Item2", "Value1", "Value"]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"$ref": "#/$defs/a"}, "the keyword $ref"),
        ({"type": "string", "pattern": "a"}, "the keyword pattern"),
        ({"minimum": 3}, "the keyword minimum"),
        (False, "false"),
        ({"enum": [1.5]}, "an enum"),
        ({"type": "object", "required": ["a"]}, "a required property"),
    ],
)
def test_a_schema_beyond_pydantic_has_a_reason(schema: Json, why: str) -> None:
    """It has no Python representation rather than half of one."""
    found = write_python(schema)
    assert isinstance(found, Inexpressible)
    assert why in found.why
