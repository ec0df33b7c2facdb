"""Every representation with a reader gives the schema back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.instances.words import split
from curation.json.values import identity
from curation.schema.keywords import KNOWN_KEYWORDS
from evaluation.suites.concodeeval.answers.model import Read
from evaluation.suites.concodeeval.answers.read_answer import Output, read_output
from evaluation.suites.concodeeval.representations.english_rules import (
    read_rules,
    say_rules,
)
from evaluation.suites.concodeeval.representations.json_text import (
    schema_from_json,
    write_json,
)
from evaluation.suites.concodeeval.representations.natural_language import (
    schema_from_english,
    write_english,
)
from evaluation.suites.concodeeval.representations.registry import REPRESENTATIONS
from evaluation.suites.concodeeval.representations.samples import write_sample
from evaluation.suites.concodeeval.representations.xml_text import (
    schema_from_xml,
    write_xml_schema,
)
from evaluation.suites.concodeeval.representations.yaml_text import (
    schema_from_yaml,
    write_yaml,
)
from tests.evaluation.suites.concodeeval.drawn import drawn_schemas

if TYPE_CHECKING:
    from curation.core.json_types import Json

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
#: What YAML 1.1 or 1.2 takes for something else, and what XML has no name for.
_TRAPS = st.sampled_from(
    split("1e3 no 0o7 12:30:45 = << ~ 2024-01-01 .5 1_000 - # !x &a *a item key $ref 1")
)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS
    | _TRAPS
)
_VALUES: st.SearchStrategy[Json] = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(_TEXTS | _TRAPS, inner, max_size=4)
    ),
    max_leaves=10,
)


def _same(left: Json, right: Json) -> bool:
    """Return whether two values are equal, and 1 is not true."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@settings(max_examples=25)
@given(_VALUES)
def test_any_json_value_survives_json_yaml_and_xml(value: Json) -> None:
    """Control characters, odd names and texts like numbers among them."""
    assert _same(schema_from_json(write_json(value)), value)
    assert _same(schema_from_xml(write_xml_schema(value)), value)
    text = write_yaml(value)
    assert _same(schema_from_yaml(text), value)
    # Both versions of YAML read the same.
    assert _same(yaml.safe_load(text), value)


@settings(max_examples=25)
@given(_VALUES, st.sampled_from(Output), drawn_schemas)
def test_any_sample_is_read_as_it_was_written(
    value: Json, output: Output, schema: Json
) -> None:
    """Whatever the schema it is meant for: what is typed goes by its types."""
    found = read_output(write_sample(value, output), output, schema)
    assert isinstance(found, Read)
    assert _same(found.value, value)


@settings(max_examples=25)
@given(drawn_schemas)
def test_a_schema_of_the_families_is_read_back_of_its_english(schema: Json) -> None:
    """The grammar says every keyword, and nothing twice."""
    text = write_english(schema)
    assert isinstance(text, str)
    assert schema_from_english(text) == schema


@settings(max_examples=25)
@given(drawn_schemas)
def test_every_representation_writes_every_schema_of_the_families(schema: Json) -> None:
    """And the same text every time."""
    for representation in REPRESENTATIONS.values():
        text = representation.write(schema)
        assert isinstance(text, str)
        assert representation.write(schema) == text
        if representation.read is not None:
            assert identity(representation.read(text)) == identity(schema)


def test_the_wording_bugs_of_the_published_templates_are_corrected() -> None:
    """Upper bounds are said to be upper ones, and `{}` to be any value."""
    schema: Json = {"type": "number", "maximum": 3, "exclusiveMaximum": 4}
    assert write_english(schema) == (
        "The schema defines a single value:\n"
        "A number that must be less than or equal to 3, strictly less than 4"
    )
    text = write_english({"type": "array", "items": {}})
    assert isinstance(text, str)
    assert text.endswith("Any value")


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {},
        {"type": "string", "pattern": "a: b\n- c"},
        {"type": ["string", "null"]},
        {"type": "string", "format": "a, b"},
        {"type": "array"},
        {"type": "object", "properties": {}},
        {"items": [{}, {"type": "null"}], "additionalItems": False},
        {"properties": {"a, by name:": {}, "b": True}},
        {"properties": {"a": {}, '"': {"anyOf": [{"not": {}}, {"const": ": "}]}}},
        {"$defs": {"x": {"$ref": "#/$defs/x"}}, "allOf": [True], "x-y, in turn:": [1]},
    ],
)
def test_what_the_four_forms_cannot_say_is_said_rule_by_rule(schema: Json) -> None:
    """A real schema has a description too, and it is read back."""
    assert _same(schema_from_english(write_english(schema)), schema)


@settings(max_examples=50)
@given(st.dictionaries(_TEXTS | st.sampled_from(sorted(KNOWN_KEYWORDS)), _VALUES))
def test_any_object_is_read_back_of_its_rules(schema: dict[str, Json]) -> None:
    """Whatever keywords hold, and whatever names they have."""
    assert _same(read_rules(say_rules(schema)), schema)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What?",
        "The schema defines a single value:\nA unicorn",
        "The schema defines a single value:\nA number that must be pretty",
        "The schema defines the structure of an object.",
        "The schema defines the structure of an object.\nWhat?\nProperties object",
        "The schema defines a value that follows these rules:\n- no words of ours: 1",
        "The schema defines a value that follows these rules:\n- its type is; 1",
        "The schema defines a value that follows these rules:\n- its type is: 1\nno",
    ],
)
def test_what_is_no_description_is_refused(text: str) -> None:
    """The grammar is strict, so that reading back proves something."""
    with pytest.raises(ValueError, match=r"no |an object"):
        schema_from_english(text)
