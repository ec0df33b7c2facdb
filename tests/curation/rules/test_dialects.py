"""The dialect of a record in rule set `clean`, and whether its validators agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import ABSENT, Document, Lint, Reason, Rejected
from curation.json.text import canonical
from curation.rules.clean import check_metaschema, decide_dialect, validators_agree
from curation.schema.dialects import BY_NAME, DIALECTS, DRAFT_04, DRAFT_2020_12
from curation.schema.drafts import StatementKind, statement
from curation.validation import verdicts
from curation.validation.metaschemas import is_valid
from curation.validation.verdicts import ONE_IN, is_in_share
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


SITE = "http://json-schema.org"


def decided(schema: UntypedJson) -> Document:
    """Return the document after the rule, which must keep it."""
    result = decide_dialect.apply(document(schema), CONTEXT)
    assert isinstance(result, Document), result
    return result


def refused(schema: UntypedJson) -> Rejected:
    """Return the rejection of a schema, which the rule must make."""
    result = decide_dialect.apply(document(schema), CONTEXT)
    assert isinstance(result, Rejected), result
    return result


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
def test_a_declared_draft_is_taken_as_it_is(dialect: object) -> None:
    """A `$schema` that validators know decides, and its spelling stays."""
    own = next(each for each in DIALECTS if each is dialect)
    bare = own.uri.removesuffix("#")
    for uri in (bare, bare + "#"):
        schema = {"title": "t", "$schema": uri, "type": "string"}
        result = decided(schema)
        assert result.schema is schema
        assert (result.dialect, result.dialect_found) == (own.name, "declared")
        assert result.changes == ()


def test_a_declaration_wins_over_what_would_fit() -> None:
    """Keywords that the declared draft lacks do not change it."""
    result = decided({"$schema": DRAFT_04.uri, "const": 1})
    assert (result.dialect, result.dialect_found) == ("draft-04", "declared")


@pytest.mark.parametrize(
    ("uri", "name", "note"),
    [
        (f"{SITE}/draft-04/schema#4", "draft-04", "spelling"),
        (f"{SITE}/draft-04/hyper-schema#", "draft-04", "links"),
        ("https://json-schema.org/draft-07/schema#", "draft-07", "spelling"),
        (
            (
                "http://iglucentral.com/schemas/com.snowplowanalytics.self-desc/schema/"
                "jsonschema/1-0-0#"
            ),
            "draft-04",
            "vendor",
        ),
        ("http://json-schema.org/draft/2020-12/schema", "2020-12", "spelling"),
    ],
)
def test_a_declaration_that_no_validator_knows_is_repaired(
    uri: str, name: str, note: str
) -> None:
    """`$schema` gets the spelling of its draft, in its old place, on record."""
    result = decided({"title": "t", "$schema": uri, "type": "string"})
    assert list(result.schema) == ["title", "$schema", "type"]
    assert result.schema["$schema"] == BY_NAME[name].uri
    assert (result.dialect, result.dialect_found) == (name, "repaired")
    (change,) = result.changes
    assert (change.pointer, change.before) == ("/$schema", f'"{uri}"')
    assert note in change.note


def test_an_inferred_older_draft_is_written_first() -> None:
    """A record whose dialect is not 2020-12 carries `$schema`, as first member."""
    result = decided({"type": "array", "items": [{"type": "string"}]})
    assert list(result.schema) == ["$schema", "type", "items"]
    assert (result.dialect, result.dialect_found) == ("2019-09", "prior")
    (change,) = result.changes
    assert (change.pointer, change.before) == ("/$schema", ABSENT)


def test_an_inferred_newest_draft_needs_no_word() -> None:
    """2020-12 is what a schema without `$schema` is read as, so none is added."""
    schema = {"type": "string"}
    result = decided(schema)
    assert result.schema is schema
    assert (result.dialect, result.dialect_found) == ("2020-12", "prior")


@pytest.mark.parametrize(
    ("extra", "name", "evidence"),
    [({}, "2020-12", "prior"), ({"id": "http://a.example/b"}, "draft-04", "words")],
)
def test_a_versionless_address_is_replaced(
    extra: UntypedJson, name: str, evidence: str
) -> None:
    """`http://json-schema.org/schema#` gives way to the draft that fits."""
    result = decided({"$schema": f"{SITE}/schema#", "type": "string", **extra})
    assert result.schema["$schema"] == BY_NAME[name].uri
    assert (result.dialect, result.dialect_found) == (name, evidence)


def test_drafts_that_do_not_mix_are_flagged() -> None:
    """Where no draft gives effect to every keyword, the record says so."""
    result = decided({"id": "http://a.example/b", "const": 1})
    assert (result.dialect, result.dialect_found) == ("2020-12", "mixed")
    assert result.lints == (Lint(code="mixed-drafts", pointer=""),)


def test_a_draft_03_schema_is_upgraded() -> None:
    """Draft-03 becomes draft-04, word for word, and every edit is on record."""
    result = decided(
        {
            "$schema": f"{SITE}/draft-03/schema#",
            "properties": {"a": {"type": "string", "required": True}},
        }
    )
    assert result.schema == {
        "$schema": DRAFT_04.uri,
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
    }
    assert (result.dialect, result.dialect_found) == ("draft-04", "upgraded")
    assert [each.pointer for each in result.changes] == [
        "/properties/a/required",
        "/required",
        "/$schema",
    ]


def test_an_undeclared_draft_03_schema_is_upgraded() -> None:
    """What only draft-03 allows is upgraded though nobody said draft-03."""
    result = decided({"properties": {"a": {"required": True}}})
    assert result.dialect_found == "upgraded"
    assert result.schema["required"] == ["a"]
    assert result.schema["$schema"] == DRAFT_04.uri


def test_draft_03_by_name_only_is_repaired() -> None:
    """With later words and none of its own, the oldest draft that fits is meant."""
    uri = f"{SITE}/draft-03/schema"
    result = decided({"$schema": uri, "type": "object", "required": ["a"]})
    assert (result.dialect, result.dialect_found) == ("draft-04", "repaired")
    result = decided({"$schema": uri, "const": 1})
    assert (result.dialect, result.dialect_found) == ("draft-06", "repaired")
    broken = decided({"$schema": uri, "required": ["a"], "type": "text"})
    assert (broken.dialect, broken.dialect_found) == ("draft-04", "repaired")


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": f"{SITE}/draft-03/schema#", "extends": {}, "oneOf": [{}]},
        {"$schema": f"{SITE}/draft-03/schema#", "extends": "a.json"},
        {"$schema": "https://meta.example/mine.json"},
        {"$schema": f"{SITE}/draft-01/schema#"},
        {"$schema": 4},
    ],
)
def test_what_cannot_be_brought_to_a_draft_is_rejected(schema: UntypedJson) -> None:
    """A dialect outside the five, and draft-03 without a twin, ends a document."""
    assert refused(schema).reason is Reason.UNSUPPORTED_DIALECT


def test_what_is_valid_under_no_draft_is_rejected() -> None:
    """An undeclared schema that no draft allows is invalid, and told where."""
    result = refused({"properties": {"a": {"type": "text"}}})
    assert result.reason is Reason.INVALID_SCHEMA
    assert "/properties/a/type" in result.detail


def test_a_nested_declaration_of_another_draft_goes() -> None:
    """Validators would change the dialect there, so it is removed, on record."""
    result = decided(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {
                "same": {"$schema": "http://json-schema.org/draft-07/schema"},
                "other": {"$schema": DRAFT_04.uri, "type": "string"},
                "hyper": {"$schema": f"{SITE}/draft-07/hyper-schema"},
                "$schema": {"type": "string"},
            },
            "default": {"$schema": DRAFT_04.uri},
        }
    )
    assert result.schema["properties"] == {
        "same": {"$schema": "http://json-schema.org/draft-07/schema"},
        "other": {"type": "string"},
        "hyper": {},
        "$schema": {"type": "string"},
    }
    assert result.schema["default"] == {"$schema": DRAFT_04.uri}
    assert [each.pointer for each in result.changes] == [
        "/properties/other/$schema",
        "/properties/hyper/$schema",
    ]


words = st.fixed_dictionaries(
    {},
    optional={
        "$schema": st.sampled_from(
            [each.uri for each in BY_NAME.values()]
            + [
                "",
                f"{SITE}/schema#",
                "draft-06",
                "http://json-schema-org/draft-07/schema",
            ]
        ),
        "id": st.just("http://a.example/b"),
        "$id": st.sampled_from(["http://a.example/b", "#c"]),
        "const": st.integers(),
        "items": st.sampled_from([{}, [{}], [{"required": True}]]),
        "dependencies": st.sampled_from([{"a": ["b"]}, {"a": "b"}]),
        "required": st.sampled_from([["a"], [], True]),
        "extends": st.sampled_from([{}, [{"type": "any"}]]),
        "type": st.sampled_from(["string", "any", "text"]),
        "$ref": st.just("#"),
        "properties": st.sampled_from([{"a": {"required": True}}, {"$schema": {}}]),
        "exclusiveMinimum": st.sampled_from([True, 1]),
        "minimum": st.just(0),
    },
)


@given(words)
def test_what_is_kept_says_its_dialect(schema: UntypedJson) -> None:
    """A record has a dialect, and validators read the same one off its `$schema`."""
    result = decide_dialect.apply(document(schema), CONTEXT)
    if isinstance(result, Rejected):
        return
    assert result.dialect is not None
    said = statement(result.schema)
    if said.kind is StatementKind.SILENT:
        assert "$schema" not in result.schema
        assert result.dialect == DRAFT_2020_12.name
    else:
        assert said.kind is StatementKind.EXACT
        assert said.dialect is BY_NAME[result.dialect]
    if result.dialect_found in {"words", "prior", "mixed"}:
        assert is_valid(result.schema, BY_NAME[result.dialect])


@given(words)
def test_deciding_twice_changes_nothing(schema: UntypedJson) -> None:
    """What the rule wrote, it reads back as declared, or silent, and leaves alone."""
    once = decide_dialect.apply(document(schema), CONTEXT)
    if isinstance(once, Rejected):
        return
    twice = decide_dialect.apply(document(once.schema), CONTEXT)
    assert isinstance(twice, Document)
    assert twice.schema is once.schema
    assert twice.dialect == once.dialect


def validated(schema: UntypedJson, dialect: str) -> Document | Rejected:
    """Return what the rule makes of a schema of this dialect."""
    return check_metaschema.apply(document(schema, dialect=dialect), CONTEXT)


def test_what_its_own_draft_allows_is_kept() -> None:
    """Draft-04's booleans and arrays stay, though 2020-12 refuses them."""
    schema = {"minimum": 1, "exclusiveMinimum": True, "items": [{}]}
    assert isinstance(validated(schema, "draft-04"), Document)
    assert isinstance(validated(schema, "2020-12"), Rejected)


def test_formats_are_left_out() -> None:
    """A pattern or reference that is none is for other rules to judge."""
    schema = {"pattern": "(", "$id": "not a uri", "format": "regex"}
    assert isinstance(validated(schema, "2020-12"), Document)


def test_the_rejection_names_draft_place_and_error() -> None:
    """The detail says under which draft, where and what."""
    result = validated({"properties": {"a/b": {"required": "x"}}}, "draft-07")
    assert isinstance(result, Rejected)
    assert result.reason is Reason.INVALID_SCHEMA
    assert result.detail == (
        'draft-07: /properties/a~1b/required: "x" is not of type "array"'
    )


def test_a_known_difference_is_told_as_one() -> None:
    """Where only jsonschema-rs refuses, the two disagree, and both are quoted."""
    result = validated({"$anchor": "a\n"}, "2020-12")
    assert isinstance(result, Rejected)
    assert result.reason is Reason.VALIDATORS_DISAGREE
    assert "jsonschema accepts it" in result.detail


def agreed(schema: UntypedJson, dialect: str = "2020-12") -> Document | Rejected:
    """Return what the rule makes of a schema of this dialect."""
    return validators_agree.apply(document(schema, dialect=dialect), CONTEXT)


def test_what_both_accept_is_kept() -> None:
    """A schema that both build and resolve passes untouched."""
    given = document({"$ref": "#/$defs/a", "$defs": {"a": {}}}, dialect="2020-12")
    assert validators_agree.apply(given, CONTEXT) is given


def test_what_one_refuses_is_a_disagreement() -> None:
    """An identifier that is no URI stops only one, and both verdicts are told."""
    result = agreed({"$id": "client config"}, "draft-06")
    assert isinstance(result, Rejected)
    assert result.reason is Reason.VALIDATORS_DISAGREE
    assert "jsonschema accepts it" in result.detail
    assert "jsonschema-rs refuses it" in result.detail


def test_a_reference_that_both_lose_is_unresolved() -> None:
    """Where both find nothing, the reference is what is wrong."""
    result = agreed({"$ref": "#/$defs/a"})
    assert isinstance(result, Rejected)
    assert result.reason is Reason.UNRESOLVED_REFERENCE


def test_what_both_refuse_otherwise_is_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The re-check finds what an earlier rule should have, under its own name."""
    monkeypatch.setattr(verdicts, "ONE_IN", 1)
    result = agreed({"type": "text"})
    assert isinstance(result, Rejected)
    assert result.reason is Reason.INVALID_SCHEMA


def test_the_slow_check_sees_a_fair_share() -> None:
    """The digest of the canonical form chooses about one schema in `ONE_IN`."""
    texts = [canonical({"const": number}) for number in range(64 * ONE_IN)]
    assert 32 <= sum(map(is_in_share, texts)) <= 128


def test_a_doubtful_schema_is_always_checked_twice() -> None:
    """What the two are known to read apart never passes on the quick word alone."""
    result = agreed({"enum": [2**64, float(2**64)]}, "draft-04")
    assert isinstance(result, Rejected)
    assert result.reason is Reason.VALIDATORS_DISAGREE
    assert "jsonschema refuses it" in result.detail


def test_nothing_is_fetched() -> None:
    """References and metaschemas elsewhere are refused, not looked for."""
    for uri in ("http://127.0.0.1:9/a.json", "file:///etc/hostname"):
        result = agreed({"$ref": uri})
        assert isinstance(result, Rejected)
        assert result.reason is Reason.UNRESOLVED_REFERENCE
    result = agreed({"$schema": "http://127.0.0.1:9/meta.json", "type": "string"})
    assert isinstance(result, Document)
