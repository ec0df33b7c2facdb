"""Edits of one value, keyword by keyword."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import conjoin
from curation.instances.near_misses.edit_table import EDITS
from curation.instances.near_misses.edit_target import EditTarget
from curation.instances.witnesses.context import NOTHING

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson


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
        (
            {"dependencies": {"a": ["b"]}},
            "dependencies",
            {"a": 1, "b": 2},
            {"a": 1},
        ),
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
