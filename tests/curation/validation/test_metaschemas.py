"""Metaschemas, checked by jsonschema-rs, and which draft fits a schema."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_specifications import REGISTRY

from curation.core.documents import Rejected
from curation.download.acquire import UnavailableArchive, acquire
from curation.download.cache import FetchSettings
from curation.download.packs import open_pack
from curation.download.pins import load_pins
from curation.json.pointer import pointer
from curation.json.text import SpelledFloat, parse
from curation.rules.paper import complaint_2020_12
from curation.schema.dialects import ANY_DIALECT, BY_NAME, DIALECTS, DRAFT_07, Dialect
from curation.schema.drafts import usage
from curation.schema.keywords import KNOWN_KEYWORDS, Shape
from curation.validation.dialect_decision import NEWEST_FIRST, PRIORS, inferred
from curation.validation.metaschemas import (
    RUST_DRAFTS,
    RUST_VALIDATORS,
    Complaint,
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
from tests.curation.pinned import needs_mirror
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

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


@pytest.mark.parametrize("dialect", first_fast(1, DIALECTS), ids=lambda it: it.name)
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


#: Values, each likely to be right under some words and wrong under others.
_ODDS = st.sampled_from(
    [
        *(True, None, -1, 0, 1.0, 1.5, -0.0, 5e-324, 1e30),
        *(2**53, 2**64, 10**30, SpelledFloat("2.00")),
        *("", "string", "any", "a[", "(?P<n>x)", "{1", "1a\n", "%zz"),
        *("http://x.test/a#b", "//x y", "urn:x", "#frag", ["a", "a"], ["a"], []),
    ]
)
values = st.recursive(
    _ODDS,
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
    odd_names = st.sampled_from(["a", "enum", "(", "^x[", "b{"])
    members = st.dictionaries(odd_names, inner, max_size=2)
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


@needs_mirror
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


def test_only_keyword_position_counts() -> None:
    """Names of properties, data and unknown words use nothing."""
    used = usage(
        {
            "properties": {"const": {"title": "a", "format": "date"}},
            "enum": [{"if": 1}],
            "default": {"prefixItems": []},
            "x-word": {"dependencies": {}},
            "definitions": {"not": {"$comment": "b"}},
        }
    )
    assert used.keywords == {"properties", "enum"}
    assert not used.asserts_beside_ref


def test_a_keyword_below_any_applicator_counts() -> None:
    """Schemas inside applicators of any draft, and in containers, are looked at."""
    used = usage(
        {
            "if": {"$defs": {"a": {"const": 1}}},
            "items": [{"extends": {"divisibleBy": 2}}],
            "dependencies": {"a": {"minLength": 1}, "b": ["c"]},
            "type": ["string", {"maximum": 3}],
        }
    )
    assert {"const", "extends", "divisibleBy", "minLength", "maximum"} <= used.keywords


def test_identifiers_count_as_strings_only() -> None:
    """An `id` that is no string is a word like any other."""
    assert usage({"id": "a", "$ref": "#"}).keywords == {"id", "$ref"}
    assert usage({"id": {"type": "string"}, "$id": 3, "$ref": {}}).keywords == set()


def test_what_contentschema_holds_is_not_applied() -> None:
    """No draft applies `contentSchema`, so what it uses has no say."""
    assert usage({"contentSchema": {"const": 1}}).keywords == set()


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"$ref": "#", "minLength": 1}, True),
        ({"$ref": "#", "properties": {}}, True),
        ({"$ref": "#", "title": "a", "definitions": {}, "$defs": {}}, False),
        ({"$ref": {}, "minLength": 1}, False),
    ],
)
def test_asserting_siblings_of_a_reference(
    schema: UntypedJson, *, expected: bool
) -> None:
    """Annotations and definitions beside a `$ref` assert nothing."""
    assert usage(schema).asserts_beside_ref is expected


def decided(schema: UntypedJson, source: str = "local") -> tuple[str, str, list[str]]:
    """Return dialect, evidence and words of an undeclared schema of a source."""
    result = inferred(schema, usage(schema), PRIORS.get(source, NEWEST_FIRST))
    assert result is not None
    assert is_valid(schema, result.dialect)
    return result.dialect.name, result.evidence, list(result.words)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"id": "http://example.com/a"}, ("draft-04", ["id"])),
        ({"id": "a", "definitions": {"b": {}}}, ("draft-04", ["definitions", "id"])),
        ({"minimum": 1, "exclusiveMinimum": True}, ("draft-04", ["exclusiveMinimum"])),
        (
            {"if": {}, "dependencies": {"a": ["b"]}},
            ("draft-07", ["dependencies", "if"]),
        ),
        (
            {"$comment": "a", "definitions": {}},
            ("draft-07", ["$comment", "definitions"]),
        ),
        (
            {"$recursiveAnchor": True, "additionalItems": False},
            ("2019-09", ["$recursiveAnchor", "additionalItems"]),
        ),
        ({"prefixItems": [{}], "$defs": {}}, ("2020-12", ["$defs", "prefixItems"])),
    ],
)
@pytest.mark.parametrize("source", ["github", "local"])
def test_words_that_leave_one_draft_decide(
    source: str, schema: UntypedJson, expected: tuple[str, list[str]]
) -> None:
    """Whatever the source declares elsewhere, and the evidence is on record."""
    name, words = expected
    assert decided(schema, source) == (name, "words", words)


@pytest.mark.parametrize(
    ("schema", "corpus", "newest"),
    [
        ({}, "draft-04", "2020-12"),
        ({"type": "string", "format": "date", "x-word": 1}, "draft-04", "2020-12"),
        ({"definitions": {"a": {}}}, "draft-04", "draft-07"),
        ({"items": [{}]}, "draft-04", "2019-09"),
        ({"$id": "http://example.com/a"}, "draft-07", "2020-12"),
        ({"examples": [1]}, "draft-07", "2020-12"),
        ({"required": []}, "draft-07", "2020-12"),
        ({"$id": "#anchor"}, "draft-07", "draft-07"),
    ],
)
def test_what_words_leave_open_is_as_the_source_declares(
    schema: UntypedJson, corpus: str, newest: str
) -> None:
    """The corpus's files mean draft-04, then draft-07; of others the newest counts."""
    assert decided(schema, "github")[:2] == (corpus, "prior")
    assert decided(schema)[:2] == (newest, "prior")


def test_siblings_of_a_reference_are_evidence_of_newer_authors_alone() -> None:
    """In draft-04's days they were written in vain; today they say something."""
    schema: UntypedJson = {"$ref": "#/definitions/a", "minLength": 1}
    schema["definitions"] = {"a": {}}
    assert decided(schema, "github")[0] == "draft-04"
    assert decided(schema)[0] == "2020-12"


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"id": "a", "const": 1}, "2020-12"),
        ({"id": "a", "items": [{}], "if": {}}, "2019-09"),
        ({"$ref": "#", "minLength": 1, "dependencies": {}}, "draft-07"),
        ({"exclusiveMinimum": True, "minimum": 1, "const": 1}, "draft-04"),
        ({"divisibleBy": 2}, "2020-12"),
    ],
)
def test_drafts_that_do_not_mix(schema: UntypedJson, name: str) -> None:
    """Where no draft fits, one with the fewest idle keywords is called mixed."""
    assert decided(schema)[:2] == (name, "mixed")


def test_a_schema_that_is_valid_nowhere_has_no_dialect() -> None:
    """What no draft allows is inferred to nothing."""
    schema: UntypedJson = {"type": "text"}
    assert inferred(schema, usage(schema)) is None


def test_every_dialect_finds_its_own_keywords_effective() -> None:
    """Each keyword of a draft has effect in it, and 2020-12's are not draft-04's."""
    for each in DIALECTS:
        schema = dict.fromkeys(sorted(each.effective), "a")
        used = usage({word: schema[word] for word in schema if word != "$ref"})
        assert used.all_effective(each)
    assert not usage({"const": 1}).all_effective(BY_NAME["draft-04"])


@pytest.mark.parametrize(
    ("schema", "old", "later"),
    [
        ({"properties": {"a": {"required": True}}}, {"required"}, set()),
        ({"required": ["a"]}, set(), {"required"}),
        ({"type": "any"}, {"type"}, set()),
        ({"type": ["any", "null"]}, {"type"}, set()),
        ({"type": [{"type": "string"}]}, {"type"}, set()),
        ({"dependencies": {"a": "b"}}, {"dependencies"}, set()),
        ({"dependencies": {"a": ["b"]}}, set(), set()),
        ({"extends": {}, "disallow": "null"}, {"extends", "disallow"}, set()),
        ({"oneOf": [{"divisibleBy": 2}]}, {"divisibleBy"}, {"oneOf"}),
        ({"type": "string", "pattern": "a"}, set(), set()),
    ],
)
def test_words_of_draft_03_and_of_later_ones(
    schema: UntypedJson, old: AbstractSet[str], later: AbstractSet[str]
) -> None:
    """What only draft-03 has, and what it lacks, are told apart."""
    used = usage(schema)
    assert (used.old, used.later) == (old, later)


@given(schemas())
def test_both_checks_agree(schema: UntypedJson) -> None:
    """On made schemas, right and wrong in every word that has a format or a type."""
    own = python_complaint(schema, BY_NAME["2020-12"], formats=True)
    assert (complaint_2020_12(schema) is None) == (own is None)


@pytest.mark.parametrize(
    "schema",
    [
        {"$id": "a#b"},
        {"$anchor": "1a"},
        {"$anchor": "a\n"},
        {"dependencies": {"a": {"$anchor": "a\n"}}},
        {"$anchor": "a\n", "type": "a\n"},
        {"$vocabulary": {"not a uri": True}},
        {"$vocabulary": {"http://x.test": True}},
        {"dependencies": {"a": {"pattern": "("}}},
        {"dependencies": {"a": ["b", "b"]}},
        {"patternProperties": {"(": {}}},
        {"pattern": "a{99999999999}"},
        {"pattern": "[[a]"},
        {"default": {"$ref": "not a reference"}},
        {"enum": [{"pattern": "("}]},
        {"minimum": 10**400},
        {"maxLength": SpelledFloat("1.00")},
        {"maxLength": SpelledFloat("1.50")},
    ],
)
def test_both_checks_agree_on_the_edges(schema: UntypedJson) -> None:
    """Line ends, names as patterns, numbers past a double, and mere data."""
    own = python_complaint(schema, BY_NAME["2020-12"], formats=True)
    assert (complaint_2020_12(schema) is None) == (own is None)


def test_a_complaint_says_where_and_what() -> None:
    """The pointer of the first error, then the message."""
    found = complaint_2020_12({"properties": {"a/b": {"type": "thing"}}})
    assert found is not None
    assert found.pointer == "/properties/a~1b/type"
    assert str(found).startswith("/properties/a~1b/type: ")
    assert str(Complaint(pointer="", message="m")) == "(root): m"


def test_a_long_message_is_cut() -> None:
    """jsonschema-rs repeats whole schemas in some messages."""
    found = complaint_2020_12({"anyOf": "x" * 10_000})
    assert found is not None
    assert len(found.message) <= 240


def test_deep_schemas_are_checked() -> None:
    """As deep as a document may nest, without an exception."""
    schema: UntypedJson = {"type": "thing"}
    for _ in range(255):
        schema = {"not": schema}
    found = complaint_2020_12(schema)
    assert found is not None
    assert found.pointer.endswith("/not/type")


def test_verdicts_of_texts_are_remembered_without_warnings() -> None:
    """Python warns of patterns that may change their meaning; nobody is told."""
    schema = json.loads('{"pattern": "[[a]", "not": {"pattern": "[a&&b]"}}')
    assert complaint_2020_12(schema) is None
    assert complaint_2020_12(schema) is None
