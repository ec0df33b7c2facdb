"""Which instances AJV is known to judge otherwise, and by which cause."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.interpretations import Interpretations
from curation.instances.dataset.make_instances import make_instances
from curation.instances.judging.ajv_differences import AjvCause, ajv_differences
from curation.instances.model import InstanceRow

if TYPE_CHECKING:
    from curation.core.json_types import Json

_INHERITED: Json = {
    "properties": {"constructor": {"type": "string"}, "b": {"type": "null"}},
    "required": ["toString"],
}


def _causes(schema: Json, dialect: str, *values: Json) -> dict[int, AjvCause]:
    compiled = CompiledSchema.from_json(schema, dialect)
    rows = [
        InstanceRow(
            unique_id="",
            number=number,
            text=json.dumps(value),
            valid=compiled.is_valid(value),
            kind="minimal",
            keyword="",
            schema_pointer="",
            instance_pointer="",
            verdicts="{}",
        )
        for number, value in enumerate(values)
    ]
    found = ajv_differences(Interpretations.of(compiled), rows)
    return {difference.number: difference.cause for difference in found}


def test_what_stands_beside_a_reference_is_a_cause() -> None:
    """A value that the sibling refuses is named, another one is not."""
    schema: Json = {
        "$ref": "#/definitions/a",
        "maximum": 3,
        "definitions": {"a": {"type": "integer"}},
    }
    assert _causes(schema, "draft-07", 2, 7) == {1: AjvCause.REF_SIBLINGS}
    assert _causes(schema, "2020-12", 2, 7) == {}


@pytest.mark.parametrize("note", [{}, {"examples": "one"}, {"$comment": 7}])
def test_a_keyword_of_a_later_draft_is_a_cause(note: dict[str, Json]) -> None:
    """So it is where annotations are written as the later draft does not allow."""
    schema: Json = {"const": "a", **note}
    assert _causes(schema, "draft-04", "a", "b") == {1: AjvCause.LATER_KEYWORD}


def test_of_two_causes_the_one_that_decides_is_named() -> None:
    """A schema has both, and each value fails one."""
    schema: Json = {
        "properties": {"a": {"$ref": "#/definitions/a", "maximum": 3}},
        "patternProperties": {"b": {"const": 1}},
        "definitions": {"a": {}},
    }
    assert _causes(schema, "draft-04", {"a": 7}, {"b": 2}, {"a": 1, "b": 1}) == {
        0: AjvCause.REF_SIBLINGS,
        1: AjvCause.LATER_KEYWORD,
    }


def test_a_format_that_ajv_has_not_got_is_a_cause() -> None:
    """A near miss for it is accepted; one for a format that AJV has is not."""
    schema: Json = {
        "properties": {"a": {"format": "iri"}, "b": {"format": "date"}},
    }
    found = _causes(schema, "draft-07", {"a": "\\"}, {"b": "x"}, {"a": "\\", "b": "x"})
    assert found == {0: AjvCause.UNKNOWN_FORMAT}


def test_a_name_that_objects_inherit_is_a_cause() -> None:
    """An object without it fails its type, and one that lacks it meets `required`."""
    values: list[Json] = [
        {"toString": 1},
        {"constructor": "c"},
        {"toString": 1, "constructor": "c"},
        [],
    ]
    assert _causes(_INHERITED, "2020-12", *values) == {
        0: AjvCause.INHERITED_NAME,
        1: AjvCause.INHERITED_NAME,
    }


def test_a_value_of_that_name_is_no_cause() -> None:
    """`constructor` in an `enum` is data."""
    assert _causes({"enum": ["constructor"]}, "draft-07", "constructor", {}) == {}


def test_instances_that_are_made_say_it_themselves() -> None:
    """The numbers are those of the rows."""
    made = make_instances('{"type": "string", "format": "idn-email"}', "draft-07")
    kept = [row for row in made.near_misses if row.keyword == "format"]
    assert kept
    assert [one.number for one in made.ajv] == [row.number for row in kept]
