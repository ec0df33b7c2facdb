"""Every representation with a reader gives the schema back; Python's runs."""

from __future__ import annotations

import json
import sys
from collections import Counter
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from curation.instances.values.words import WORDS, split
from curation.json.values import identity
from evaluation.suites.concodeeval.records import generate_schemas
from evaluation.suites.concodeeval.representations import (
    REPRESENTATIONS,
    write_english,
    write_python,
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


_TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]))
#: What YAML 1.1 takes for something else.
_ODD = "no 12:30:45 = << ~ 2024-01-01 1_000 - # !x &a *a item key $ref 1"
_TRAPS = st.sampled_from(split(_ODD))
_NAMES = st.sampled_from(["item", "key", *WORDS])
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TRAPS
)
_VALUES: st.SearchStrategy[Json] = st.recursive(
    _SCALARS | _TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4)
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
@example(["a\tb\n", " "], {})
def test_a_sample_survives_json_yaml_and_xml(value: Json, schema: Json) -> None:
    """Of members named by words, as those of the families are.

    Whatever the schema that a sample is meant for: what is typed goes by its types.
    """
    for output in OUTPUTS:
        sample = write_sample(value, output)
        assert _same(read_output(sample, output, schema, "recommended"), value)
    assert _same(yaml.safe_load(write_sample(value, "yaml")), value)


@settings(max_examples=25)
@given(drawn_schemas)
def test_every_representation_writes_every_schema_of_the_families(schema: Json) -> None:
    """The same text every time, from which readers get it back.

    Python compiles, whether something satisfies the schema or not.
    """
    texts = {name: write(schema) for name, (_, write) in REPRESENTATIONS.items()}
    again = {name: write(schema) for name, (_, write) in REPRESENTATIONS.items()}
    assert texts == again
    for output in OUTPUTS:
        assert _same(read_output(texts[output], output, {}, "recommended"), schema)
    assert _same(yaml.safe_load(texts["yaml"]), schema)
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
    assert REPRESENTATIONS["yaml"][1]({"b": "null", "a": {}}) == "a: {}\nb: 'null'"
    assert REPRESENTATIONS["xml"][1]({"a": [{}]}) == (
        '<?xml version="1.0" ?>\n<all>\n  <a type="list">\n    <item type="dict"/>\n'
        "  </a>\n</all>"
    )


#: Keywords that only comments express.
_COMMENTED = split("format contains minContains maxContains")
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
    for made in made_schemas()[::2]:
        schema = json.loads(made.constraint)
        assert {*_differing(schema, made.instances)} <= {_ROUNDED}, schema


@pytest.mark.slow
def test_the_code_of_the_whole_suite_is_true_to_its_schemas() -> None:
    """602 schemas: but for rounded multiples every instance is judged as it must be."""
    found = Counter(
        keyword
        for made in generate_schemas(602, 0, "recommended")
        for keyword in _differing(json.loads(made.constraint), made.instances)
    )
    assert set(found) <= {_ROUNDED}
    assert found.total() < 20


@pytest.mark.parametrize(("schema", "lines"), table(__file__, "python"))
def test_every_keyword_is_code_or_a_comment(schema: Json, lines: list[str]) -> None:
    """What pydantic has no word for is listed; a name that hides one is an alias."""
    code = [line.strip() for line in write_python(schema).split("\n")]
    assert [line for line in code if line in lines] == lines
