"""The paper rules that mend: `$schema` URIs, patterns, drafts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import ABSENT, Document, Reason, Rejected
from curation.json.text import write
from curation.rules.paper import pattern_text, rebuild, schema_uri
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

DRAFT_04 = "http://json-schema.org/draft-04/schema#"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize(
    ("uri", "at_root", "nested"),
    [
        ("http://json-schema.org/draft-04/hyper-schema#", "4", "4"),
        ("http://json-schema.org/draft-04/hyper-schema", "4", "4"),
        ("http://json-schema.org/draft-04/schema#4", "4", "4"),
        ("http://json-schema.org/draft-07/schema#/definitions/", "7", "7"),
        ("http://json-schema.org/schema#", "7#", "7"),
        ("https://x.test/meta", "https://x.test/meta", None),
        (DRAFT_04, DRAFT_04, DRAFT_04),
    ],
)
def test_uris_are_mended_at_any_depth(
    uri: str, at_root: str, nested: str | None
) -> None:
    """Those with one draft in mind name it; nested foreign ones go."""
    short = {
        "4": "http://json-schema.org/draft-04/schema",
        "7": "http://json-schema.org/draft-07/schema",
        "7#": DRAFT_07,
    }
    schema = {"$schema": uri, "anyOf": [{"a": 1, "$schema": uri}]}
    left = schema_uri.apply(document(schema), CONTEXT)
    assert isinstance(left, Document)
    assert left.schema["$schema"] == short.get(at_root, at_root)
    inner = left.schema["anyOf"][0]
    assert inner.get("$schema") == (short.get(nested, nested) if nested else None)
    for each in left.changes:
        assert each.pointer in {"/$schema", "/anyOf/0/$schema"}
        assert each.before == write(uri)
        assert (each.after == ABSENT) == (nested is None)


def test_uris_that_are_no_texts_stay() -> None:
    """A property that is called `$schema` is no declaration."""
    made = document({"properties": {"$schema": {"type": "string"}}, "$schema": None})
    assert schema_uri.apply(made, CONTEXT) is made


def test_washingtonpost_roots_get_the_draft_that_they_declare_upstream() -> None:
    """It stands first, and only there where none stood."""
    bare = document({"type": "string"}, config="WashingtonPost")
    left = schema_uri.apply(bare, CONTEXT)
    assert isinstance(left, Document)
    assert list(left.schema) == ["$schema", "type"]
    assert left.schema["$schema"] == "http://json-schema.org/draft-04/schema"
    assert [each.before for each in left.changes] == [ABSENT]
    own = document({"$schema": DRAFT_07}, config="WashingtonPost")
    assert schema_uri.apply(own, CONTEXT) is own


def mended(pattern: str) -> str:
    """Return what the rule makes of one pattern."""
    left = pattern_text.apply(document({"pattern": pattern}), CONTEXT)
    assert isinstance(left, Document)
    return str(left.schema["pattern"])


@pytest.mark.parametrize(
    ("pattern", "right"),
    [
        ("^[a[]$", r"^[a\[]$"),
        (r"^[?#[\]@]*$", r"^[?#\[\]@]*$"),
        ("^[[a-z]*[-]?[a-z]*]*$", "^[[a-z]*[-]?[a-z]*]*$"),
        (".*{{.+}}.*", r".*\{\{.+}}.*"),
        (r"^\{a}$", r"^\{a}$"),
        ("^a{2}b{2,}c{2,3}$", "^a{2}b{2,}c{2,3}$"),
        ("^a{,254}$", "^a{0,254}$"),
        ("^[{}]$", "^[{}]$"),
        (r"^[^\0]+$", "^[^\0]+$"),
        (r"^\\0$", r"^\\0$"),
        ("a{2", r"a\{2"),
        ("[a\\", "[a\\"),
    ],
)
def test_patterns_are_escaped_as_published(pattern: str, right: str) -> None:
    """Only inside classes that do not balance, and braces that quantify nothing."""
    assert mended(pattern) == right


@given(st.text(alphabet="[]{}0,29\\a^-", max_size=12))
def test_mending_a_pattern_twice_changes_nothing_more(pattern: str) -> None:
    """A mended pattern is in order, wherever its brackets then balance."""
    once = mended(pattern)
    bare = re.sub(r"\\.", "", once, flags=re.DOTALL)
    if bare.count("[") == bare.count("]"):
        assert mended(once) == once


def test_pattern_names_are_renamed_in_place() -> None:
    """The member keeps its place, and both names stand in the ledger."""
    schema = {
        "properties": {"pattern": {"pattern": "{"}},
        "patternProperties": {"a": {}, "b{": {"pattern": "{"}, "c": {}},
    }
    left = pattern_text.apply(document(schema), CONTEXT)
    assert isinstance(left, Document)
    assert left.schema["properties"] == {"pattern": {"pattern": r"\{"}}
    keyed = left.schema["patternProperties"]
    assert list(keyed) == ["a", r"b\{", "c"]
    assert keyed[r"b\{"] == {"pattern": r"\{"}
    assert [each.pointer for each in left.changes] == [
        "/patternProperties/b{/pattern",
        "/properties/pattern/pattern",
        "/patternProperties/b{",
        r"/patternProperties/b\{",
    ]


def test_a_property_may_be_called_pattern_properties() -> None:
    """Its own pattern is a pattern, not a name."""
    schema = {"properties": {"patternProperties": {"pattern": "{"}}}
    left = pattern_text.apply(document(schema), CONTEXT)
    assert isinstance(left, Document)
    assert left.schema == {"properties": {"patternProperties": {"pattern": r"\{"}}}


def test_a_document_without_patterns_is_left_alone() -> None:
    """Braces elsewhere are none of the rule's business."""
    made = document({"title": "{", "enum": ["["]})
    assert pattern_text.apply(made, CONTEXT) is made


def rebuilt(schema: UntypedJson, **given_: UntypedJson) -> Document | Rejected:
    """Return what the rule makes of a GitHub document."""
    return rebuild.apply(document(schema, **{"config": "Github", **given_}), CONTEXT)


def test_an_empty_required_makes_2020_12() -> None:
    """Draft-04 refuses it, and 2020-12 is the draft that does not."""
    left = rebuilt({"$schema": DRAFT_04, "required": []})
    assert isinstance(left, Document)
    assert left.schema["$schema"] == DRAFT_2020
    [change] = left.changes
    assert (change.before, change.after) == (write(DRAFT_04), write(DRAFT_2020))


def test_other_failures_make_draft_07() -> None:
    """Booleans as schemas, for example, that draft-04 does not know."""
    left = rebuilt({"$schema": DRAFT_04, "properties": {"a": False}})
    assert isinstance(left, Document)
    assert left.schema["$schema"] == DRAFT_07


def test_a_promoted_schema_with_an_empty_required_becomes_draft_07() -> None:
    """As published; draft-07 allows it as well."""
    from curation.rules.paper import promote  # noqa: PLC0415 - one test's business

    root = {"a": {"$schema": DRAFT_04, "required": []}}
    made = document(root, config="Github")
    promoted = promote.apply(made, CONTEXT)
    assert isinstance(promoted, Document)
    left = rebuild.apply(promoted, CONTEXT)
    assert isinstance(left, Document)
    assert left.schema["$schema"] == DRAFT_07


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$ref": "#/definitions/none"}, Reason.UNRESOLVED_REFERENCE),
        ({"items": {"$ref": "#none"}}, Reason.UNRESOLVED_REFERENCE),
        (
            {"$ref": "#/x", "x": {"properties": {"a": "no schema"}}},
            Reason.INVALID_SCHEMA,
        ),
    ],
)
def test_what_cannot_be_built_at_all_is_dropped(
    schema: UntypedJson, reason: Reason
) -> None:
    """A reference that leads nowhere, or to something that is no schema."""
    ended = rebuilt(schema)
    assert isinstance(ended, Rejected)
    assert ended.reason is reason
    assert isinstance(rebuilt(schema, config="JsonSchemaStore"), Document)


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_04, "pattern": r"^a\{d}$"},
        {"$schema": DRAFT_04, "items": {"anyOf": [{"pattern": "}"}, {}]}},
        {"$ref": "https://x.test/other.json"},
        {"$schema": DRAFT_04, "minimum": 1},
    ],
)
def test_patterns_and_remote_references_are_no_matter_of_this_rule(
    schema: UntypedJson,
) -> None:
    """They are kept here as they are; another rule drops the references."""
    left = rebuilt(schema)
    assert isinstance(left, Document)
    assert left.schema == schema


def test_an_identifier_that_hides_a_target_makes_draft_04_outside_github() -> None:
    """Draft-07 reads the nested `$id`, draft-04 does not; GitHub's stay as they are."""
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {
            "a": {"$id": "http://example.com/a", "items": {"$ref": "#/definitions/b"}},
            "b": {"type": "string"},
        },
        "properties": {"a": {"$ref": "#/definitions/a"}},
    }
    result = rebuilt(schema, config="JsonSchemaStore")
    assert isinstance(result, Document)
    assert result.schema["$schema"] == "http://json-schema.org/draft-04/schema#"
    assert isinstance(rebuilt(schema, config="Github"), Rejected)


def test_what_builds_only_with_a_mended_pattern_is_declared_draft_07() -> None:
    """Where it declares a draft; what built before keeps its own."""
    schema = {"$schema": DRAFT_04, "pattern": "^a{,3}$"}
    left = pattern_text.apply(document(schema), CONTEXT)
    assert isinstance(left, Document)
    assert left.schema == {"$schema": DRAFT_07, "pattern": "^a{0,3}$"}
    assert [each.pointer for each in left.changes] == ["/pattern", "/$schema"]
    silent = pattern_text.apply(document({"pattern": "^a{,3}$"}), CONTEXT)
    assert isinstance(silent, Document)
    assert silent.schema == {"pattern": "^a{0,3}$"}


def test_a_list_required_among_the_properties_belongs_to_the_object() -> None:
    """With the boolean beside it, where nothing else keeps it from being built."""
    properties: UntypedJson = {"a": {"type": "string"}}
    stray: UntypedJson = {"required": ["a"], "additionalProperties": False}
    schema: UntypedJson = {
        "$schema": DRAFT_04,
        "properties": {"entry": {"$ref": "#/entry"}},
        "entry": {"properties": {**properties, **stray}},
    }
    left = rebuild.apply(document(schema, config="Github"), CONTEXT)
    assert isinstance(left, Document)
    assert left.schema == {**schema, "entry": {"properties": properties, **stray}}
    assert {each.rule for each in left.changes} == {"paper-rebuild"}
    lost: UntypedJson = {**schema, "items": {"$ref": "#/nowhere"}}
    ended = rebuild.apply(document(lost, config="Github"), CONTEXT)
    assert isinstance(ended, Rejected)
    unreached: UntypedJson = {**schema, "properties": {}}
    made = document(unreached, config="Github")
    assert rebuild.apply(made, CONTEXT) is made
