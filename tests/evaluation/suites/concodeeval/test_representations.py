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
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from curation.instances.dataset.make_instances import make_instances
from curation.instances.values.words import split
from curation.json.values import identity
from evaluation.data.instance_store import recorded_instances
from evaluation.suites.concodeeval.python_code import field_name, write_python
from evaluation.suites.concodeeval.records import generate_schemas
from evaluation.suites.concodeeval.representations import (
    REPRESENTATIONS,
    InexpressibleError,
    write_english,
    write_sample,
)
from evaluation.suites.concodeeval.scorer import read_output
from evaluation.suites.concodeeval.suite import OUTPUTS
from tests.evaluation.suites.concodeeval.drawn import drawn_schemas, made_schemas
from tests.evaluation.suites.concodeeval.readers import schema_from_english
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json
    from evaluation.core.records import Instance


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
#: What YAML 1.1 or 1.2 takes for something else, and what XML has no name for.
_ODD = "1e3 no 0o7 12:30:45 = << ~ 2024-01-01 .5 1_000 - # !x &a *a item key $ref 1"
_TRAPS = st.sampled_from(split(_ODD))
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
@given(_VALUES, drawn_schemas)
@example([*split(_ODD)], {})
@example({"item": {}}, {})
def test_any_json_value_survives_json_yaml_and_xml(value: Json, schema: Json) -> None:
    """Control characters, odd names and texts like numbers among them.

    Whatever the schema that a sample is meant for: what is typed goes by its types.
    """
    for output in OUTPUTS:
        text = REPRESENTATIONS[output].write(value)
        assert _same(read_output(text, output, {}, "recommended"), value)
        sample = write_sample(value, output)
        assert _same(read_output(sample, output, schema, "recommended"), value)
    # Both versions of YAML read the same.
    assert _same(yaml.safe_load(REPRESENTATIONS["yaml"].write(value)), value)


@settings(max_examples=25)
@given(drawn_schemas)
def test_every_representation_writes_every_schema_of_the_families(schema: Json) -> None:
    """The same text every time, from which a reader of English gets it back.

    Python compiles, whether something satisfies the schema or not.
    """
    texts = {name: form.write(schema) for name, form in REPRESENTATIONS.items()}
    assert texts == {name: form.write(schema) for name, form in REPRESENTATIONS.items()}
    assert identity(schema_from_english(texts["nl"])) == identity(schema)
    compile(texts["python"], "<representation>", "exec")


def test_the_published_forms_are_kept_but_for_their_faults() -> None:
    """The paper's example: constraints are enforced, and null is no alias.

    In English upper bounds are upper ones, and `{}` is any value.
    """
    schema: Json = {
        "type": "object",
        "properties": {
            "deluded": {"type": "null"},
            "bravadoing": {"type": "number", "exclusiveMaximum": 5.13},
            "quintise": {},
        },
        "additionalProperties": False,
        "required": ["bravadoing"],
    }
    assert write_python(schema).endswith(
        "class Schema(BaseModel):\n"
        '    model_config = ConfigDict(extra="forbid", strict=True)\n\n'
        "    deluded: None = Field(None)\n"
        "    bravadoing: float = Field(..., lt=5.13)\n"
        "    quintise: Any = Field(None)"
    )
    assert write_english(schema).endswith(
        "Properties object\n\ndeluded: A null\n"
        "bravadoing: A number that must be strictly less than 5.13\n"
        "quintise: Any value"
    )
    assert REPRESENTATIONS["yaml"].write({"b": "null", "a": {}}) == "a: {}\nb: 'null'"
    assert REPRESENTATIONS["xml"].write({"a": [{}]}) == (
        '<?xml version="1.0" ?>\n<all>\n  <a type="list">\n    <item type="dict"/>\n'
        "  </a>\n</all>"
    )


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (True, "a boolean schema"),
        ({"type": "array", "items": True}, "a boolean schema"),
        ({"type": "string", "pattern": "a: b\n- c"}, "keyword pattern"),
        ({"type": ["string", "null"]}, "the type"),
        ({"type": "string", "format": "a, b"}, "the value of format"),
        ({"type": "number", "minimum": 1, "exclusiveMinimum": True}, "the value of"),
        ({"type": "array"}, "an array"),
        ({"type": "object", "properties": {}}, "an object without"),
        ({"$ref": "#/$defs/x"}, "the keyword $ref"),
    ],
)
def test_a_schema_beyond_english_has_a_reason(schema: Json, why: str) -> None:
    """A real schema has no English rather than half of one."""
    with pytest.raises(InexpressibleError, match=re.escape(why)):
        write_english(schema)


def _instances(schema: Json) -> tuple[Instance, ...]:
    return recorded_instances(make_instances(json.dumps(schema), "2020-12"))


#: Keywords that only comments express.
_COMMENTED = split("format contains minContains maxContains uniqueItems enum const")
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
        if is_accepted is not (instance.valid or instance.keyword in _COMMENTED):
            differing.append("" if instance.valid else instance.keyword)
    return differing


def test_the_code_accepts_and_refuses_what_the_schema_does() -> None:
    """Witnesses are accepted; of near misses those that only a comment refuses."""
    pairs = [(json.loads(it.constraint), it.instances) for it in made_schemas()[::2]]
    pairs += [(schema, _instances(schema)) for schema in table(__file__, "real")]
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


@pytest.mark.parametrize(("schema", "lines"), table(__file__, "python"))
def test_every_keyword_is_code_or_a_comment(schema: Json, lines: list[str]) -> None:
    """What pydantic has no word for is listed, whatever the type."""
    code = [line.strip() for line in write_python(schema).split("\n")]
    assert [line for line in lines if line not in code] == []


@settings(max_examples=25)
@given(st.text(), st.text())
def test_names_of_strangers_say_nothing_in_code(name: str, text: str) -> None:
    """Whatever a property or a keyword is called, the code is one class, one field."""
    schema: Json = {"type": "object", "properties": {name: {"const": [text]}}, text: 1}
    tree = ast.parse(write_python(schema))
    (model,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert [type(node) for node in model.body] == [ast.Assign, ast.AnnAssign]


def test_a_field_has_its_propertys_name_where_that_is_safe() -> None:
    """Keywords, pydantic's own names and what is no identifier become aliases."""
    assert field_name("size", 7) == "size"
    unsafe = ("class", "json", "model_config", "_private", "Any", "größe", "a b", "")
    assert {field_name(name, 7) for name in unsafe} == {"field_7"}
