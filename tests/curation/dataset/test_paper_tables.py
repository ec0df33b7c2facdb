"""The paper's tables over made rows, in the names of its Figure 4."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.dataset.decisions import DocumentResult
from curation.dataset.features import used
from curation.dataset.paper_tables import (
    DRAFTS,
    MEASURES,
    RawFigures,
    Spread,
    declared_draft,
    figure_2,
    measure_schema,
    measure_schemas,
    raw_figures,
    table_1,
    table_8,
    table_9,
)
from curation.pipeline.process_document import apply_rules
from curation.rules.sets import rule_set
from curation.schema.dialects import ANY_DIALECT, DRAFT_04, DRAFT_07, DRAFT_2020_12
from tests.curation.rules.documents_made import CONTEXT, raw_document

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson


ROWS = [
    ("B", json.dumps({"$schema": "http://json-schema.org/draft-04/schema#"})),
    ("A", json.dumps({"pattern": "x", "format": "date"})),
    ("A", json.dumps({"properties": {"a": {"pattern": "x"}, "b": {}}})),
    ("A", "not JSON"),
    ("A", json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema"})),
]


def test_table_1_counts_what_can_be_read() -> None:
    """By config, in the order in which configs come."""
    assert list(table_1(measure_schemas(ROWS)).items()) == [("B", 1), ("A", 3)]


def test_table_8_says_how_measures_are_distributed() -> None:
    """Of an even number the higher middle value is the median, as in the paper."""
    table = table_8(measure_schemas(ROWS))
    assert tuple(table["A"]) == MEASURES
    assert table["A"]["field_count"] == Spread(
        least=1, lower_quartile=1, median=2, upper_quartile=4, most=4
    )
    pair = [measure_schema("C", {}), measure_schema("C", {"a": {"b": 1}})]
    assert table_8(pair)["C"]["schema_depth"].median == 2


def test_the_fan_out_of_table_8_stops_at_arrays() -> None:
    """As in the paper, whose trivial schemas have at most nine keys side by side."""
    wide = measure_schema("A", {"enum": [dict.fromkeys("abcdefghijkl")]})
    assert wide.max_fan_out == 1


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_a_spread_is_ordered(sizes: list[int]) -> None:
    """Least, quartiles and most never cross, and all occur."""
    rows = [("A", json.dumps(dict.fromkeys(map(str, range(size))))) for size in sizes]
    spread = table_8(measure_schemas(rows))["A"]["field_count"]
    figures = [
        spread.least,
        spread.lower_quartile,
        spread.median,
        spread.upper_quartile,
        spread.most,
    ]
    assert figures == sorted(figures)
    assert set(figures) <= set(sizes)


def test_table_9_counts_drafts_by_config() -> None:
    """Every config has every column."""
    table = table_9(measure_schemas(ROWS))
    assert all(tuple(row) == DRAFTS for row in table.values())
    assert table["A"] == dict.fromkeys(DRAFTS, 0) | {"2020-12": 1, "unknown": 2}
    assert table["B"]["draft-04"] == 1


#: Schemas that declare nothing.
NO_DRAFT: tuple[Any, ...] = (True, {}, [])


@pytest.mark.parametrize(
    ("schema", "draft"),
    [
        ({"$schema": "http://json-schema.org/draft-06/schema"}, "draft-06"),
        ({"$schema": "http://json-schema.org/draft-04/hyper-schema#"}, "draft-04"),
        ({"$schema": "https://json-schema.org/draft/2019-09/schema"}, "2019-09"),
        ({"$schema": "http://json-schema.org/draft-03/schema#"}, "unknown"),
        ({"$schema": "http://json-schema.org/schema#"}, "unknown"),
        ({"$schema": 7}, "unknown"),
        *((schema, "unknown") for schema in NO_DRAFT),
    ],
)
def test_a_draft_is_a_part_of_the_roots_declaration(schema: Json, draft: str) -> None:
    """Whatever else stands in it; what declares nothing has none."""
    assert declared_draft(schema) == draft


def test_figure_2_ranks_by_schemas() -> None:
    """Each schema counts a name once; of equal counts the names decide."""
    figure = figure_2(measure_schemas(ROWS))
    assert [*figure["features"].items()] == [("pattern", 2), ("format", 1)]
    assert figure["formats"] == {"date": 1}


def test_what_columns_say_is_not_counted_again() -> None:
    """Of a row with its size, features and formats the other measures are the same."""
    measured = measure_schemas(ROWS)
    texts = [text for _, text in ROWS if text.startswith("{")]
    for known, text in zip(measured, texts, strict=True):
        size = round(1024 * known.size_kb)
        row = (known.config, text, size, known.features, known.formats)
        assert measure_schemas([row]) == [known]
    assert measure_schemas([("A", "not JSON", 8, (), ())]) == []


SCHEMA: Json = {
    "$schema": "http://json-schema.org/draft-06/schema#",
    "not": {"a": [{}]},
}
RAW = raw_document(b'{"template": "${x}", "a": {"b": 1}}')


def test_the_figures_of_a_file() -> None:
    """Size with Python's separators, three counts, and the declared draft."""
    assert raw_figures(SCHEMA) == RawFigures(
        raw_size=74, raw_field_count=3, raw_fan_out=2, raw_depth=2, raw_draft="draft-06"
    )


@pytest.mark.parametrize(("rules", "known"), [("paper", True), ("clean", False)])
def test_they_are_taken_where_the_rules_count_by_them(
    rules: str, *, known: bool
) -> None:
    """Even a rejected file has them under the paper's rules; `clean` has no use."""
    outcome = apply_rules(RAW, rule_set(rules), CONTEXT)
    assert outcome.rejected is not None
    assert (outcome.raw is not None) == known
    answer = msgspec.json.decode(msgspec.json.encode(outcome))
    assert msgspec.convert(answer, DocumentResult) == outcome


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "object", "properties": {"a": {"title": "t"}}}, set()),
        (True, set()),
        ({"required": ["a"], "items": {}, "enum": []}, {"required", "items", "enum"}),
        (
            {"minLength": 1, "maxItems": 1, "minProperties": 1, "maxContains": 1},
            {"@minmaxLength", "@minmaxItems", "@minmaxProperties", "@minmaxContains"},
        ),
        ({"type": "integer", "minimum": 1}, {"@minmaxInteger"}),
        ({"type": ["integer", "null"], "maximum": 1}, {"@minmaxInteger"}),
        ({"type": "number", "exclusiveMinimum": 1}, {"@minmaxNumber"}),
        ({"maximum": 1}, {"@minmaxNumber"}),
        ({"additionalProperties": False}, {"additionalProperties"}),
        (
            {"additionalProperties": {}},
            {"additionalProperties", "additionalProperties:object"},
        ),
        ({"allOf": [{}]}, set()),
        ({"allOf": [{}, {}]}, {"allOf"}),
        ({"anyOf": [{"not": {}}, {"const": 1}]}, {"anyOf", "not", "const"}),
        ({"allOf": [{}], "type": "object"}, {"@siblingKeys"}),
        ({"$ref": "#/a", "description": "d", "definitions": {}}, {"$ref"}),
        ({"$ref": "#/a", "type": "object"}, {"$ref", "@siblingKeys"}),
        ({"default": {"enum": [1]}, "examples": [{"const": 1}]}, set()),
        ({"enum": [{"pattern": "x"}]}, {"enum"}),
        ({"$id": "a", "$comment": "c", "x-enum": []}, set()),
    ],
)
def test_features_are_what_a_schema_uses_in_keyword_position(
    schema: UntypedJson, found: set[str]
) -> None:
    """Keywords and their groups; annotations, data and unknown words are none."""
    assert set(used(schema, DRAFT_2020_12).features) == found


def test_the_dialect_decides_where_schemas_stand() -> None:
    """An array of `items` holds schemas up to 2019-09; a word counts in any draft."""
    schema: UntypedJson = {"items": [{"pattern": "x"}], "if": {"format": "date"}}
    assert set(used(schema, DRAFT_07).features) == {"items", "pattern", "if", "format"}
    assert set(used(schema, DRAFT_2020_12).features) == {"items", "if", "format"}
    assert set(used(schema, DRAFT_04).features) == {"items", "pattern", "if"}
    assert used(schema, DRAFT_04).formats == ()
    assert used(schema, ANY_DIALECT).formats == ("date",)


def test_names_are_sorted_and_stand_once() -> None:
    """Whatever the order of the schema."""
    schema: UntypedJson = {
        "properties": {
            "b": {"format": "uri", "pattern": "x"},
            "a": {"format": "date", "pattern": "y"},
            "c": {"format": "uri"},
            "format": {"format": 7},
        }
    }
    both = used(schema, DRAFT_2020_12)
    assert (
        both.features == used(schema, DRAFT_2020_12).features == ("format", "pattern")
    )
    assert both.formats == used(schema, DRAFT_2020_12).formats == ("date", "uri")


def test_a_schema_that_refers_back_to_itself_has_a_feature() -> None:
    """As the paper counts recursion: by the schema, not by its keywords."""
    recursive: UntypedJson = {"properties": {"a": {"$ref": "#"}}}
    assert used(recursive, DRAFT_07).features == ("$ref", "@recursiveSchemas")
    assert used({"$ref": "#/definitions/a"}, DRAFT_07).features == ("$ref",)
