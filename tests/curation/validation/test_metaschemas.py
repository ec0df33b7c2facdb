"""Metaschemas, checked by jsonschema-rs."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_specifications import REGISTRY

from curation.core.documents import Rejected
from curation.download.acquire import FetchSettings, UnavailableArchive, acquire
from curation.download.packs import open_pack
from curation.download.pins import load_pins
from curation.json.pointer import pointer
from curation.json.text import parse
from curation.schema.dialects import ANY_DIALECT, BY_NAME, DIALECTS, DRAFT_07, Dialect
from curation.schema.keywords import KNOWN_KEYWORDS, Shape
from curation.validation.metaschemas import (
    RUST_DRAFTS,
    RUST_VALIDATORS,
    complaint,
    complaints,
    is_valid,
    python_complaint,
    refuse,
    standard_documents,
    valid_under,
    validators_may_differ,
)
from curation.validation.python_validators import PYTHON_VALIDATORS

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

#: One real document in so many is checked by both.
ONE_IN = 100


@pytest.mark.parametrize(
    ("schema", "drafts"),
    [
        ({}, "draft-04 draft-06 draft-07 2019-09 2020-12"),
        (True, "draft-06 draft-07 2019-09 2020-12"),
        ({"items": [{}]}, "draft-04 draft-06 draft-07 2019-09"),
        ({"exclusiveMinimum": True, "minimum": 1}, "draft-04"),
        ({"$id": "#a"}, "draft-04 draft-06 draft-07"),
        ({"required": []}, "draft-06 draft-07 2019-09 2020-12"),
        ({"type": "text"}, ""),
        ({"pattern": "(", "$ref": " "}, "draft-04 draft-06 draft-07 2019-09 2020-12"),
    ],
)
def test_drafts_under_which_a_schema_is_valid(schema: UntypedJson, drafts: str) -> None:
    """`valid_under` lists them oldest first, and leaves formats out."""
    assert valid_under(schema) == tuple(drafts.split())


def test_numbers_may_be_spelled_in_any_way() -> None:
    """A number that remembers its spelling is read as the number it is."""
    schema: UntypedJson = parse(b'{"minLength": 1.00, "maximum": 1E2}')
    assert valid_under(schema) == ("draft-06", "draft-07", "2019-09", "2020-12")


def test_the_first_complaint_is_the_deepest_of_a_choice() -> None:
    """Of the alternatives of an `anyOf` the one that got furthest is told."""
    found = complaint(
        {"properties": {"a": {"items": {"properties": {"b": {"minLength": "2"}}}}}},
        BY_NAME["draft-07"],
    )
    assert found is not None
    assert found.pointer == "/properties/a/items/properties/b/minLength"
    assert found.message == '"2" is not of type "integer"'


def test_a_complaint_does_not_hang_on_the_order_of_keys() -> None:
    """Of several errors the one whose pointer sorts first is told."""
    one: UntypedJson = {"type": "text", "minimum": "1", "required": 3}
    other: UntypedJson = dict(reversed(one.items()))
    for each in DIALECTS:
        assert complaint(one, each) == complaint(other, each)
    assert str(complaint(one, BY_NAME["2020-12"])).startswith("/minimum: ")


def test_a_long_value_is_cut() -> None:
    """An error that is about a large value stays one short line."""
    found = complaint({"required": "x" * 10_000}, BY_NAME["2020-12"])
    assert found is not None
    assert len(found.message) < 120
    slow = python_complaint({"required": "x" * 10_000}, BY_NAME["2020-12"])
    assert slow is not None
    assert len(slow.message) < 300


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
def test_the_deepest_document_is_checked_by_both(dialect: Dialect) -> None:
    """At the depth limit the slow check still answers, and restores the limit."""
    schema: UntypedJson = {"type": "string"}
    for _ in range(254):
        schema = {"not": schema}
    before = sys.getrecursionlimit()
    assert is_valid(schema, dialect)
    assert python_complaint(schema, dialect) is None
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"$anchor": "a\n"}, "2020-12"),
        ({"properties": {"a": {"$id": "http://a.example/#\n"}}}, "2019-09"),
        ({"enum": [2**64, float(2**64)]}, "draft-04"),
        ({"enum": [{"a": [1e30]}]}, "draft-04"),
    ],
)
def test_known_differences_are_doubtful(schema: UntypedJson, name: str) -> None:
    """What the two are known to read apart is found."""
    assert validators_may_differ(schema, BY_NAME[name])
    assert not validators_may_differ(schema, BY_NAME["draft-07"])


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
def test_ordinary_schemas_are_not_doubtful(dialect: Dialect) -> None:
    """Line ends in texts, large bounds and ordinary members raise no doubt."""
    schema: UntypedJson = {
        "description": "a\n",
        "maximum": 2**70,
        "enum": ["a\n", 1, 2.5, 2**70, {"b": [None]}],
        "$anchor": "a",
    }
    assert not validators_may_differ(schema, dialect)


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 3),
        st.sampled_from([2**53, 2**64, 10**30, -0.0, 1.0, 0.5, 1e30, 5e-324]),
        st.sampled_from(["", "a", "#a", "http://a.example/b#", "string", "any", "a\n"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "type", "$ref", "enum"]), inner),
    ),
    max_leaves=4,
)


def _fitting(
    word: str, inner: st.SearchStrategy[UntypedJson]
) -> st.SearchStrategy[UntypedJson]:
    """Return values that a keyword may well have, and a few that it may not."""
    shape = ANY_DIALECT.applicators.get(word)
    names = st.lists(st.sampled_from(["a", "b"]), max_size=2)
    members = st.dictionaries(st.sampled_from(["a", "enum", "("]), inner, max_size=2)
    by_shape: dict[Shape | None, st.SearchStrategy[UntypedJson]] = {
        None: values,
        Shape.SCHEMA: inner,
        Shape.SCHEMAS: st.lists(inner, max_size=2),
        Shape.EITHER: st.one_of(inner, st.lists(inner, max_size=2)),
        Shape.MAP: members,
        Shape.DEPENDENCIES: st.one_of(
            members, st.dictionaries(st.sampled_from(["a", "b"]), names, max_size=2)
        ),
    }
    if word == "type":
        kinds = st.sampled_from(["string", "null", "any"])
        return st.one_of(kinds, st.lists(kinds, max_size=2), values)
    if word == "enum":
        return st.lists(values, max_size=3)
    return st.one_of(by_shape[shape], names, values)


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> UntypedJson:
    """Draw what may or may not be a schema, at most so deep."""
    if not depth:
        return draw(st.one_of(st.booleans(), st.just({})))
    words = draw(st.lists(st.sampled_from(sorted(KNOWN_KEYWORDS)), max_size=3))
    inner: st.SearchStrategy[UntypedJson] = schemas(depth - 1)
    return {word: draw(_fitting(word, inner)) for word in words}


def test_the_standard_documents_are_those_of_the_registry() -> None:
    """All but draft-03's metaschema; they are read without it."""
    known = {uri.rstrip("#"): REGISTRY.contents(uri) for uri in REGISTRY}
    known.pop("http://json-schema.org/draft-03/schema")
    assert standard_documents() == known


@given(schemas())
def test_both_checks_agree_on_generated_schemas(schema: UntypedJson) -> None:
    """jsonschema-rs and `check_schema` give one verdict where nothing is doubtful."""
    for each in DIALECTS:
        if not validators_may_differ(schema, each):
            assert is_valid(schema, each) == (python_complaint(schema, each) is None)


@given(schemas())
def test_a_complaint_is_made_exactly_of_the_invalid(schema: UntypedJson) -> None:
    """`valid_under`, `is_valid` and `complaint` are three views of one verdict."""
    names = valid_under(schema)
    for each in DIALECTS:
        assert is_valid(schema, each) == (each.name in names)
        assert (complaint(schema, each) is None) == (each.name in names)


@pytest.mark.skipif(
    "CSBDATA_MIRROR" not in os.environ, reason="CSBDATA_MIRROR is not set"
)
@pytest.mark.parametrize("archive", ["witness-generation", "schemastore"])
def test_both_checks_agree_on_real_schemas(archive: str) -> None:
    """On a share of the real files, by digest, the verdicts are the same everywhere.

    All of them were compared once: 8,495 documents under five drafts, no difference.
    """
    got = acquire(load_pins()[archive], FetchSettings.from_environment(offline=True))
    if isinstance(got, UnavailableArchive):
        pytest.skip(got.why)
    pack, compared = open_pack(got.pack), 0
    for path in pack.paths:
        content = pack.read(path)
        if int(hashlib.sha256(content).hexdigest()[:8], 16) % ONE_IN:
            continue
        schema = parse(content)
        if isinstance(schema, Rejected):
            continue
        compared += 1
        for each in DIALECTS:
            verdict = is_valid(schema, each)
            assert validators_may_differ(schema, each) or verdict == (
                python_complaint(schema, each) is None
            ), path
    assert compared


def test_no_document_is_fetched() -> None:
    """The retriever that all validators are given refuses."""
    with pytest.raises(LookupError):
        refuse("https://x.test/")


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_both_libraries_validate_by_the_draft_of_the_dialect(dialect: Dialect) -> None:
    """Their classes are named alike, and their metaschema is the dialect's."""
    rust, python = RUST_VALIDATORS[dialect.name], PYTHON_VALIDATORS[dialect.name]
    assert rust.__name__ == python.__name__
    assert python.META_SCHEMA["$schema"] == dialect.uri
    number = rust.__name__.removeprefix("Draft").removesuffix("Validator")
    assert RUST_DRAFTS[dialect.name] == getattr(jsonschema_rs, f"Draft{number}")


@pytest.mark.parametrize(
    "name", ["", "007", "+5", "+0", "7", pytest.param("1" * 5_000, id="beyond int()")]
)
def test_a_place_is_named_whole(name: str) -> None:
    """Paths of jsonschema-rs lose some names, and other members look like them."""
    schema: UntypedJson = {
        "properties": {name: {"type": "bool"}, "7": {"type": "string"}}
    }
    if name == "7":
        schema = {"properties": {"7": {"type": "bool"}}}
    place = ("properties", name, "type")
    assert complaints(schema, DRAFT_07) == (place,)
    found = complaint(schema, DRAFT_07)
    assert found is not None
    assert found.pointer == pointer(place)
