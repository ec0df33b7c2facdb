"""Every representation with a reader gives the schema back; Python's runs."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from curation.instances.dataset.make_instances import make_instances
from curation.instances.values.words import split
from curation.json.values import identity
from evaluation.data.instance_store import recorded_instances
from evaluation.suites.concodeeval.python_code import (
    COMMENTED,
    InexpressibleError,
    class_name,
    field_name,
    write_python,
)
from evaluation.suites.concodeeval.records import generate_schemas
from evaluation.suites.concodeeval.representations import (
    REPRESENTATIONS,
    write_english,
    write_json,
    write_sample,
    write_xml_schema,
    write_yaml,
)
from evaluation.suites.concodeeval.scorer import read_output
from evaluation.suites.concodeeval.suite import OUTPUTS, NotRead, Output
from tests.evaluation.suites.concodeeval.drawn import drawn_schemas, made_schemas
from tests.evaluation.suites.concodeeval.readers import (
    schema_from_english,
    schema_from_json,
    schema_from_xml,
    schema_from_yaml,
)
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from curation.core.json_types import Json
    from evaluation.core.records import Instance


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
@given(_VALUES, st.sampled_from(OUTPUTS), drawn_schemas)
def test_any_sample_is_read_as_it_was_written(
    value: Json, output: Output, schema: Json
) -> None:
    """Whatever the schema it is meant for: what is typed goes by its types."""
    text = write_sample(value, output)
    found = read_output(text, output, schema, "recommended")
    assert not isinstance(found, NotRead)
    assert _same(found, value)


@settings(max_examples=25)
@given(drawn_schemas)
def test_every_representation_writes_every_schema_of_the_families(schema: Json) -> None:
    """The same text every time, from which its reader gets the schema back.

    Python compiles, whether something satisfies the schema or not.
    """
    for name, representation in REPRESENTATIONS.items():
        text = representation.write(schema)
        assert representation.write(schema) == text
        if name == "python":
            compile(text, "<representation>", "exec")
        else:
            assert identity(_READERS[name](text)) == identity(schema)


def test_the_wording_bugs_of_the_published_templates_are_corrected() -> None:
    """Upper bounds are said to be upper ones, and `{}` to be any value."""
    schema: Json = {"type": "number", "maximum": 3, "exclusiveMaximum": 4}
    assert write_english(schema) == (
        "The schema defines a single value:\n"
        "A number that must be less than or equal to 3, strictly less than 4"
    )
    text = write_english({"type": "array", "items": {}})
    assert text.endswith("Any value")


@pytest.mark.parametrize(
    ("write", "schema", "why"),
    [
        (write_english, True, "a boolean schema"),
        (write_english, {"type": "array", "items": True}, "a boolean schema"),
        (write_english, {"type": "string", "pattern": "a: b\n- c"}, "keyword pattern"),
        (write_english, {"type": ["string", "null"]}, "the type"),
        (write_english, {"type": "string", "format": "a, b"}, "the value of format"),
        (write_english, {"type": "array"}, "an array"),
        (write_english, {"type": "object", "properties": {}}, "an object without"),
        (write_english, {"$ref": "#/$defs/x"}, "the keyword $ref"),
        (write_python, {"$ref": "#/$defs/a"}, "the keyword $ref"),
        (write_python, {"type": "string", "pattern": "a"}, "the keyword pattern"),
        (write_python, {"minimum": 3}, "the keyword minimum"),
        (write_python, False, "false"),
        (write_python, {"enum": [1.5]}, "an enum"),
        (write_python, {"type": "object", "required": ["a"]}, "a required property"),
    ],
)
def test_a_schema_beyond_a_representation_has_a_reason(
    write: Callable[[Json], str], schema: Json, why: str
) -> None:
    """A real schema has no English and no Python rather than half of one."""
    with pytest.raises(InexpressibleError, match=re.escape(why)):
        write(schema)


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


def _instances(schema: Json) -> tuple[Instance, ...]:
    return recorded_instances(make_instances(json.dumps(schema), "2020-12"))


_REAL: list[Json] = table(__file__, "real")
#: A near miss of `multipleOf` that pydantic accepts: it takes what is within a
#: billionth of a multiple for one.
_ROUNDED = "multipleOf"


def _differing(schema: Json, instances: Iterable[Instance]) -> list[str]:
    """Return the keywords of the instances on which the code does not say its part.

    A witness must be accepted. A near miss must be refused if the code says the keyword
    that refuses it, and accepted if only a comment says it.
    """
    module = ModuleType("representation")
    # pydantic looks a class's module up to understand its annotations.
    sys.modules[module.__name__] = module
    exec(write_python(schema), vars(module))  # noqa: S102 - ours
    differing = []
    for instance in instances:
        try:
            module.Schema.model_validate_json(instance.text)
            is_accepted = True
        except ValidationError:
            is_accepted = False
        if is_accepted is not (instance.valid or instance.keyword in COMMENTED):
            differing.append("" if instance.valid else instance.keyword)
    return differing


def test_the_code_accepts_and_refuses_what_the_schema_does() -> None:
    """Witnesses are accepted; of near misses those that only a comment refuses."""
    pairs = [(json.loads(it.constraint), it.instances) for it in made_schemas()[::2]]
    pairs += [(schema, _instances(schema)) for schema in _REAL]
    for schema, instances in pairs:
        assert {*_differing(schema, instances)} <= {_ROUNDED}, schema


@pytest.mark.slow
def test_the_code_of_the_whole_suite_is_true_to_its_schemas() -> None:
    """600 schemas: but for rounded multiples every instance is judged as it must be."""
    found = Counter(
        keyword
        for made in generate_schemas()
        for keyword in _differing(json.loads(made.constraint), made.instances)
    )
    assert set(found) <= {_ROUNDED}
    assert found.total() < 20


def test_what_pydantic_cannot_say_is_listed_and_commented() -> None:
    """A format, and how many elements are of a kind, stand in comments."""
    code = write_python(
        {
            "type": "array",
            "contains": {"type": "string", "format": "date"},
            "minContains": 2,
        }
    )
    assert "# contains: Item" in code
    assert "# minContains: 2" in code
    assert '# format: "date"' in code


@settings(max_examples=25)
@given(st.text(), st.text())
def test_names_of_strangers_say_nothing_in_code(name: str, text: str) -> None:
    """Whatever a property is called, the code is one class with one field."""
    schema: Json = {"type": "object", "properties": {name: {"enum": [text]}}}
    tree = ast.parse(write_python(schema))
    (model,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    fields = [node for node in model.body if isinstance(node, ast.AnnAssign)]
    assert len(fields) == 1
    assert len(model.body) == 2


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
