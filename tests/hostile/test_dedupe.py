"""What must not fool the removal of copies, nor leak from train to test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.benchmark import split_of
from curation.json import text as jsontext
from curation.schema.dialects import DRAFT_07
from curation.schema.shingles import shingles, split_key
from curation.schema.subschemas import skeleton

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

SCHEMA = b'{"type": "number", "minimum": 10, "enum": [1]}'
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
).filter(lambda value: not _infinite(value))


def _infinite(value: UntypedJson) -> bool:
    return "Infinity" in json.dumps(value)


def digest_of(text: bytes) -> str:
    """Return the digest of a JSON text."""
    value: UntypedJson = jsontext.parse(text)
    return jsontext.digest(value)


@pytest.mark.parametrize(
    "variant",
    [
        b'{"enum": [1], "minimum": 10, "type": "number"}',
        b'{"type":"number","minimum":10,"enum":[1]}\n\n',
        b'\xef\xbb\xbf{"type": "number", "minimum": 1e1, "enum": [1.0]}',
        b'{"t\\u0079pe": "number", "minimum": 10.00, "enum": [1]}',
    ],
)
def test_f31_spelling_does_not_hide_a_copy(variant: bytes) -> None:
    """Key order, whitespace, a mark, escapes and number spelling make no new record."""
    assert digest_of(variant) == digest_of(SCHEMA)


@pytest.mark.parametrize(
    "other",
    [
        b'{"type": "number", "minimum": 10, "enum": ["1"]}',
        b'{"type": "number", "minimum": 10, "enum": [true]}',
        b'{"type": "number", "minimum": 10, "enum": [[1]]}',
        b'{"type": "number", "minimum": 10.000000000000000001, "enum": [1]}',
        b'{"type": "number", "minimum": 10, "enum": [1], "const": null}',
    ],
)
def test_f31_what_only_looks_alike_is_no_copy(other: bytes) -> None:
    """Types, exact decimals and absent against null tell schemas apart."""
    assert digest_of(other) != digest_of(SCHEMA)


@given(values, values)
def test_f32_equal_digests_are_equal_bytes(
    left: UntypedJson, right: UntypedJson
) -> None:
    """Identity is the sha256 of the canonical bytes: one is equal if the other is."""
    same_bytes = jsontext.canonical(left) == jsontext.canonical(right)
    assert same_bytes == (jsontext.digest(left) == jsontext.digest(right))


@given(
    values,
    st.sampled_from(["title", "description", "$comment", "default", "examples", "$id"]),
)
def test_f34_near_duplicates_share_a_split(value: UntypedJson, word: str) -> None:
    """A title, a default or another `$id` never puts a copy into another split."""
    schema: UntypedJson = {"type": "object", "properties": {"a": {"minimum": 10}}}
    near = {**schema, word: value}
    far = {**schema, "properties": {"a": {"minimum": 10, word: value}}}
    splits = {
        split_of(split_key(shingles(skeleton(each, DRAFT_07))))
        for each in (schema, near, far)
    }
    assert len(splits) == 1


def test_f34_a_split_depends_on_its_own_schema_alone() -> None:
    """The split is a function of one key: no other record can move it."""
    key = split_key(shingles(skeleton({"type": "string"}, DRAFT_07)))
    assert {split_of(key) for _ in range(3)} == {split_of(key)}
    shares = [split_of(f"{part:02x}" + "0" * 14) for part in range(256)]
    assert [shares.count(each) for each in ("train", "val", "test")] == [154, 26, 76]
