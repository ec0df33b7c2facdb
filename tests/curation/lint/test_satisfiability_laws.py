"""Proofs that nothing is accepted are sound, whatever the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.search.witnesses import find_witnesses
from curation.lint.satisfiability import refute
from curation.schema.dialects import BY_NAME
from tests.curation.judges import rust_accepts

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def _arrays(words: st.SearchStrategy[str]) -> st.SearchStrategy[UntypedJson]:
    return st.lists(words, min_size=1, max_size=2, unique=True)


_NAMES = st.sampled_from(["a", "b"])
_SMALL = st.integers(0, 2)
_TYPES = st.sampled_from(
    ["null", "boolean", "string", "integer", "number", "object", "array"]
)
_VALUES: st.SearchStrategy[UntypedJson] = st.sampled_from(
    ["", "a", "ab", 0, 1, 1.5, 2.0, None, True, [], {}, [1]]
)
_LEAVES: dict[str, st.SearchStrategy[UntypedJson]] = {
    "type": _TYPES | _arrays(_TYPES),
    "enum": st.lists(_VALUES, min_size=1, max_size=3, unique_by=repr),
    "const": _VALUES,
    "minimum": st.sampled_from([0, 1, 1.2, 2]),
    "maximum": st.sampled_from([0, 1, 1.7, 2]),
    "multipleOf": st.sampled_from([2, 3]),
    "minLength": _SMALL,
    "maxLength": _SMALL,
    "minItems": _SMALL,
    "maxItems": _SMALL,
    "minProperties": _SMALL,
    "maxProperties": _SMALL,
    "uniqueItems": st.just(value=True),
    "required": _arrays(_NAMES),
    "pattern": st.sampled_from(["^a", "b$", "[0-9]"]),
    "title": st.sampled_from(["x", "y"]),
    "$ref": st.sampled_from(["#", "#/definitions/d"]),
}


def _some(
    words: dict[str, st.SearchStrategy[UntypedJson]],
) -> st.SearchStrategy[dict[str, UntypedJson]]:
    """Return schemas of up to four of these words."""
    chosen = st.lists(st.sampled_from(sorted(words)), max_size=4, unique=True)
    return chosen.flatmap(
        lambda names: st.fixed_dictionaries({each: words[each] for each in names})
    )


def _words(inner: st.SearchStrategy[UntypedJson]) -> st.SearchStrategy[UntypedJson]:
    """Return schemas of a few words, which may hold schemas themselves."""
    several = st.lists(inner, min_size=2, max_size=2)
    return _some(
        {
            **_LEAVES,
            **dict.fromkeys(("allOf", "anyOf", "oneOf"), several),
            **dict.fromkeys(("not", "if", "then", "else", "items", "contains"), inner),
            "properties": st.dictionaries(_NAMES, inner, max_size=2),
            "patternProperties": st.dictionaries(
                st.sampled_from(["^a", "b"]), inner, max_size=1
            ),
            "additionalProperties": st.just(value=False) | inner,
            "propertyNames": inner,
            "dependencies": st.dictionaries(_NAMES, inner, max_size=1),
        }
    )


_SCHEMAS = st.recursive(st.booleans() | _some(_LEAVES), _words, max_leaves=5)
_INSTANCES = st.recursive(
    st.sampled_from(["a", "ab", "", 0, 1, 1.5, 2, None, True]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(
    _SCHEMAS,
    _SCHEMAS,
    st.sampled_from(["draft-06", "draft-07", "2019-09", "2020-12"]),
    st.lists(_INSTANCES, min_size=10, max_size=20),
)
def test_no_instance_contradicts_a_proof(
    schema: UntypedJson,
    definition: UntypedJson,
    dialect: str,
    instances: list[UntypedJson],
) -> None:
    """Where a proof is given, jsonschema-rs accepts nothing either."""
    if not isinstance(schema, dict):
        schema = {"allOf": [schema]}
    whole = {**schema, "definitions": {"d": definition}}
    if refute(whole, BY_NAME[dialect]) is None:
        return
    for instance in instances:
        assert not rust_accepts(whole, instance, dialect)


@given(_SCHEMAS, _SCHEMAS)
def test_what_has_a_witness_is_not_refuted(
    schema: UntypedJson, definition: UntypedJson
) -> None:
    """What the instance maker can make, the validator having agreed, may be made."""
    whole: UntypedJson = {"allOf": [schema], "definitions": {"d": definition}}
    if find_witnesses(CompiledSchema.from_json(whole, "draft-07")).witnesses:
        assert refute(whole, BY_NAME["draft-07"]) is None
