"""Which keywords a schema uses, and which draft fits them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.schema.dialects import BY_NAME, DIALECTS
from curation.schema.drafts import usage
from curation.validation.dialect_decision import NEWEST_FIRST, PRIORS, inferred
from curation.validation.metaschemas import is_valid

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from curation.core.json_types import UntypedJson


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
