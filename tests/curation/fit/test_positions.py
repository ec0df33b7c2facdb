"""Values that no rewrite may change: another schema, or a place, depends on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.fit.answers import fit_schema
from curation.fit.narrowing import without_patterns
from curation.fit.positions import positions
from curation.fit.rewriting import meaning_of
from curation.fit.shapes import with_shape
from curation.schema.dialects import DRAFT_2020_12
from tests.curation.fit.test_rewriting import _STRING, _object

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.fit.relation import Comparer

_LIST: dict[str, Json] = {"type": "array", "items": _STRING, "uniqueItems": True}


@pytest.mark.parametrize(
    "beside",
    [
        {"allOf": [{"properties": {"x": {"minItems": 2}}}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"enum": [{"x": ["a"]}]}]}}},
        {"not": {"additionalProperties": {"maxItems": 1}}},
        {"const": {"x": ["a"]}},
    ],
)
def test_a_value_of_which_another_schema_speaks_keeps_its_shape(
    beside: dict[str, Json], comparer: Comparer
) -> None:
    """That schema would look at the answer: `["a", "a"]` has two elements."""
    schema: dict[str, Json] = {**_object(x=_LIST, y=_LIST), **beside}
    places = positions(schema, DRAFT_2020_12)
    spoken_of = {it for it in "xy" if not places["properties", it].plain}
    assert spoken_of == ({"x"} if "allOf" in beside else {"x", "y"})
    fit = fit_schema(schema, "sglang", comparer=comparer)
    steps = [step for step in fit.steps if step.rewrite == "distinct"]
    assert not [step for step in steps if "/properties/x" in step.pointers]


def test_an_element_that_stands_at_its_place_is_not_left_out(
    comparer: Comparer,
) -> None:
    """`["a", "a", 1]` would become `["a", 1]`, of which the second is no text."""
    strings: list[Json] = [{"type": "string"}, {"type": "string"}]
    pair: dict[str, Json] = {
        **_LIST,
        "prefixItems": strings,
        "items": {"type": "integer"},
    }
    fit = fit_schema(_object(a=pair), "sglang", comparer=comparer)
    assert "distinct" not in [step.rewrite for step in fit.steps]


def test_answers_that_differ_may_stand_for_equal_elements() -> None:
    """Pairs in another order: elements keep their shape unless repeated ones go."""
    marked = with_shape({"uniqueItems": True, "items": _LIST}, distinct=True)
    cases: list[tuple[UntypedJson, bool]] = [
        (marked, True),
        (meaning_of(marked), False),
        ({"allOf": [{"uniqueItems": True}], "items": _LIST}, False),
    ]
    for schema, is_plain in cases:
        assert positions(schema, DRAFT_2020_12)["items",].plain is is_plain


def test_names_are_matched_as_validators_do() -> None:
    """By ECMA-262, and in a time that no pattern makes exponential."""
    long = "a" * 40 + "!"
    patterns: Json = {r"^\w$": {"type": "null"}, "^(a+)+$": {"type": "null"}}
    schema: dict[str, Json] = {
        "properties": {"x": {}, "\u00e9": {}, long: {}},
        "patternProperties": patterns,
    }
    both: Json = {"allOf": [{}, {"type": "null"}]}
    closed = without_patterns(schema, frozenset())
    assert closed["properties"] == {"x": both, "\u00e9": {}, long: {}}
