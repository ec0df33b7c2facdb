"""Every representation with a reader gives the schema back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.instances.regex.words import split
from curation.json.values import identity
from evaluation.suites.concodeeval.answer_text import read_output
from evaluation.suites.concodeeval.python_code import Inexpressible
from evaluation.suites.concodeeval.representations import (
    REPRESENTATIONS,
    write_english,
    write_json,
    write_sample,
    write_xml_schema,
    write_yaml,
)
from evaluation.suites.concodeeval.settings import Output, Read
from tests.evaluation.suites.concodeeval.drawn import drawn_schemas
from tests.evaluation.suites.concodeeval.readers import (
    schema_from_english,
    schema_from_json,
    schema_from_xml,
    schema_from_yaml,
)

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


_READERS = {
    "json": schema_from_json,
    "xml": schema_from_xml,
    "yaml": schema_from_yaml,
    "nl": schema_from_english,
}


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
    for name, read in _READERS.items():
        text = REPRESENTATIONS[name].write(schema)
        assert isinstance(text, str)
        assert identity(read(text)) == identity(schema)


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
    ("schema", "why"),
    [
        (True, "a boolean schema"),
        ({"type": "string", "pattern": "a: b\n- c"}, "the keyword pattern"),
        ({"type": ["string", "null"]}, "the type"),
        ({"type": "string", "format": "a, b"}, "the value of format"),
        ({"type": "array"}, "an array"),
        ({"type": "object", "properties": {}}, "an object without"),
        ({"$ref": "#/$defs/x"}, "the keyword $ref"),
    ],
)
def test_a_schema_beyond_the_four_forms_has_no_description(
    schema: Json, why: str
) -> None:
    """A real schema has no English rather than half of one."""
    found = write_english(schema)
    assert isinstance(found, Inexpressible)
    assert why in found.why


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What?",
        "The schema defines a single value:\nA unicorn",
        "The schema defines a single value:\nA number that must be pretty",
        "The schema defines the structure of an object.",
        "The schema defines the structure of an object.\nWhat?\nProperties object",
    ],
)
def test_what_is_no_description_is_refused(text: str) -> None:
    """The grammar is strict, so that reading back proves something."""
    with pytest.raises(ValueError, match=r"no |an object"):
        schema_from_english(text)
