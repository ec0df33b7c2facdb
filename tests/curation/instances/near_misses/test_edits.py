"""Edits of one value, keyword by keyword."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjoin import conjoin
from curation.instances.near_misses.edits import EDITS
from curation.instances.near_misses.scalar_edits import EditTarget
from curation.instances.search.context import NOTHING

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
