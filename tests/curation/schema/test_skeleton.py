"""Skeletons: what two near-duplicates share."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.schema.dialects import BY_NAME, DIALECTS, DRAFT_07, DRAFT_2020_12, Dialect
from curation.schema.skeleton import STRIPPED, skeleton, skeleton_digest

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

words = st.sampled_from(sorted(STRIPPED))
texts = st.text(max_size=4)


def _schemas(inner: st.SearchStrategy[UntypedJson]) -> st.SearchStrategy[UntypedJson]:
    names = st.one_of(words, st.sampled_from(["a", "b"]))
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "object"]),
            "format": st.just("date"),
            "properties": st.dictionaries(names, inner, max_size=3),
            "items": st.one_of(inner, st.lists(inner, max_size=2)),
            "not": inner,
            "enum": st.lists(st.dictionaries(names, texts, max_size=2), max_size=2),
            "x-word": st.dictionaries(names, texts, max_size=2),
        },
    )


schemas = st.recursive(_schemas(st.just({})), _schemas, max_leaves=6)
dialects = st.sampled_from(DIALECTS)


def annotated(schema: UntypedJson, seed: int) -> UntypedJson:
    """Return the schema with its members shuffled and annotations put in."""
    chance = random.Random(seed)
    if not isinstance(schema, dict):
        return schema
    members = list(schema.items())
    members.extend(
        (word, chance.choice(["text", 1, ["list"], {"type": "x"}]))
        for word in chance.sample(sorted(STRIPPED), 2)
    )
    chance.shuffle(members)
    result = dict(members)
    for word in ("properties", "not"):
        value = schema.get(word)
        if word == "not" and isinstance(value, dict):
            result[word] = annotated(value, seed + 1)
        elif isinstance(value, dict):
            result[word] = {
                name: annotated(each, seed + 2) for name, each in value.items()
            }
    return result


@given(schemas, dialects, st.integers(0, 999))
def test_words_for_people_and_order_leave_the_digest_alone(
    schema: UntypedJson, dialect: Dialect, seed: int
) -> None:
    """Annotations, identifiers and key order change nothing of the skeleton."""
    other = annotated(schema, seed)
    assert skeleton_digest(other, dialect) == skeleton_digest(schema, dialect)


@given(schemas, dialects)
def test_a_skeleton_has_itself_as_skeleton(
    schema: UntypedJson, dialect: Dialect
) -> None:
    """Stripping twice strips no more, and the given schema is not touched."""
    once = skeleton(schema, dialect)
    assert skeleton(once, dialect) is once


@pytest.mark.parametrize("word", sorted(STRIPPED))
def test_a_property_of_that_name_stays(word: str) -> None:
    """Only keyword position counts: properties, data and unknown words stay."""
    schema: UntypedJson = {
        "properties": {word: {"type": "string"}},
        "required": [word],
        "enum": [{word: 1}],
        "const": {word: 1},
        "x-word": {word: 1},
    }
    assert skeleton({**schema, word: "gone"}, DRAFT_2020_12) == schema


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "string"}, {"type": "number"}),
        ({"format": "date"}, {"format": "time"}),
        ({"x-word": 1}, {"x-word": 2}),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
        ({"properties": {"title": {}}}, {"properties": {}}),
    ],
)
def test_everything_else_counts(one: UntypedJson, other: UntypedJson) -> None:
    """Types, formats, unknown words and the order of arrays make a difference."""
    assert skeleton_digest(one, DRAFT_07) != skeleton_digest(other, DRAFT_07)


def test_keyword_position_is_that_of_the_dialect() -> None:
    """What a draft does not apply is data, and kept as it is."""
    schema: UntypedJson = {"if": {"title": "t"}}
    assert skeleton(schema, BY_NAME["draft-04"]) == schema
    assert skeleton(schema, DRAFT_07) == {"if": {}}
