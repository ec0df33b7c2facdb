"""The rules of set `paper`: filters, repairs, and the root."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import ABSENT, Document, Reason, Rejected
from curation.json.pointer import at, tokens_of
from curation.json.text import write
from curation.rules.paper import (
    array_type,
    bad_identifier,
    check_schema,
    empty,
    pattern_text,
    promote,
    rebuild,
    remote_reference,
    schema_uri,
    template,
    wrap,
)
from curation.schema.paper_roots import constrains, entries
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.core.rule import Rule


DRAFT_04 = "http://json-schema.org/draft-04/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize(
    "schema",
    [
        {"title": "${name}"},
        {"properties": {"${key}": {}}},
        {"enum": [{"deep": ["a ${b"]}]},
        {"minimum": 10**30, "title": "${"},
    ],
)
def test_a_placeholder_anywhere_drops_a_document(schema: UntypedJson) -> None:
    """`${` in any text or name is a template, with the text around it told."""
    ended = template.apply(document(schema), CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.TEMPLATE
    assert "${" in ended.detail


@pytest.mark.parametrize(
    "schema", [{"title": "$ {name}"}, {"pattern": "^$|{"}, {"a$": {"b": 1}}, True]
)
def test_a_dollar_and_a_brace_apart_are_no_placeholder(schema: UntypedJson) -> None:
    """Only the two characters side by side, inside one text, are a template."""
    given = document(schema)
    assert template.apply(given, CONTEXT) is given


def test_the_detail_of_a_template_survives_a_cut_character() -> None:
    """The text shown is cut at bytes, and half a character is left out."""
    given = document({"title": "é" * 60 + "${" + "é" * 60})
    ended = template.apply(given, CONTEXT)
    assert isinstance(ended, Rejected)
    assert "é${é" in ended.detail


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"items": [{}]}, "/items"),
        ({"exclusiveMinimum": True}, "/exclusiveMinimum"),
        ({"properties": {"a": {"$id": "#a"}}}, "/properties/a/$id"),
        ({"examples": "no list"}, "/examples"),
        ({"$ref": "not a reference"}, "/$ref"),
        ({"pattern": "["}, "/pattern"),
        ([], "(root)"),
    ],
)
def test_what_2020_12_refuses_is_dropped(schema: UntypedJson, place: str) -> None:
    """The declared draft does not count, and the detail begins with the place."""
    if isinstance(schema, dict):
        schema = {"$schema": DRAFT_04, **schema}
    ended = check_schema.apply(document(schema), CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.INVALID_SCHEMA
    assert ended.detail.startswith(f"{place}: ")


def test_what_2020_12_accepts_passes() -> None:
    """Unknown words and draft-04 habits that 2020-12 ignores are no errors."""
    given = document({"$schema": DRAFT_04, "id": "#x", "additionalItems": 7})
    assert check_schema.apply(given, CONTEXT) is given


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": "object"},
        {"type": "object", "additionalProperties": False, "title": "nothing"},
        {"about": {"type": "string"}},
        {"$schema": DRAFT_04, "definitions": {}},
    ],
)
def test_a_root_that_asks_nothing_is_dropped(schema: UntypedJson) -> None:
    """A type of object alone, and words inside unknown words, ask nothing."""
    ended = empty.apply(document(schema), CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.EMPTY


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {}},
        {"type": "string"},
        {"type": ["object", "null"]},
        {"items": False},
        {"minProperties": 0},
        {"additionalProperties": {}},
    ],
)
def test_a_root_with_an_applying_word_is_not_empty(schema: UntypedJson) -> None:
    """It is the word that counts, not whether it restricts anything."""
    given = document(schema)
    assert empty.apply(given, CONTEXT) is given


@pytest.mark.parametrize("ref", ["other.json", "https://x.test/a#/b", "a#b", ""])
def test_a_reference_that_is_no_bare_fragment_drops_a_document(ref: str) -> None:
    """Even an empty reference, or one inside a combination, is not local."""
    given = document({"properties": {"a": {"anyOf": [{"$ref": ref}]}}})
    ended = remote_reference.apply(given, CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.REMOTE_REFERENCE
    assert ended.detail == f"/properties/a/anyOf/0/$ref refers to {ref}"


def test_local_references_pass() -> None:
    """A fragment, and a property that is called `$ref`, are no remote references."""
    given = document(
        {
            "$ref": "#/definitions/a",
            "definitions": {"a": {}},
            "properties": {"$ref": {}},
        }
    )
    assert remote_reference.apply(given, CONTEXT) is given


@pytest.mark.parametrize(
    "schema",
    [
        {"id": "http://x.test/a#b"},
        {"$id": "urn:x:a#b"},
        {"properties": {"a": {"id": "http://x.test/a#b/c"}}},
    ],
)
def test_a_fragment_in_an_absolute_identifier_drops_a_document(
    schema: UntypedJson,
) -> None:
    """Any fragment at the root, one with a slash below."""
    given = document({"$schema": DRAFT_04, **schema})
    ended = bad_identifier.apply(given, CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.BAD_IDENTIFIER


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_04, "id": "http://x.test/a#"},
        {"$schema": DRAFT_04, "id": "#a/b"},
        {"$schema": DRAFT_04, "items": {"id": "http://x.test/a#b"}},
        {"$schema": DRAFT_2020, "id": "http://x.test/a#b/c"},
        {"id": "http://x.test/a#b/c"},
    ],
)
def test_other_identifiers_pass(schema: UntypedJson) -> None:
    """Empty and relative ones, anchors, and those of newer or no stated draft."""
    given = document(schema)
    assert bad_identifier.apply(given, CONTEXT) is given


def test_every_rejection_states_a_reason_that_its_rule_lists() -> None:
    """What `csbdata explain` says a rule rejects for is what it rejects for."""
    for rule, schema in (
        (template, {"title": "${"}),
        (check_schema, {"type": "thing"}),
        (empty, {}),
        (remote_reference, {"$ref": "a"}),
        (bad_identifier, {"$schema": DRAFT_04, "id": "a:b#c"}),
    ):
        ended = rule.apply(document(schema), CONTEXT)
        assert not isinstance(ended, Document)
        assert ended.reason in rule.reasons


@pytest.mark.parametrize(
    "ref",
    [
        "http://example.com/own#",
        "http://example.com/own#/a",
        DRAFT_04 + "/properties/id",
    ],
)
def test_the_own_identifier_and_metaschemas_are_no_other_document(ref: str) -> None:
    """Every validator finds these without fetching anything."""
    given = document({"id": "http://example.com/own#", "items": {"$ref": ref}})
    assert remote_reference.apply(given, CONTEXT) is given


DRAFT_07 = "http://json-schema.org/draft-07/schema#"


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


def applied(rule: Rule, schema: UntypedJson) -> Document:
    """Return the document that a rule leaves."""
    left = rule.apply(document(schema), CONTEXT)
    assert isinstance(left, Document)
    return left


def test_the_first_member_with_a_schema_of_its_own_is_promoted() -> None:
    """The first in file order wins, and all else goes."""
    first: UntypedJson = {"$schema": DRAFT_04, "type": "string"}
    root: UntypedJson = {"command": "x", "b": first, "a": {"$schema": DRAFT_04}}
    left = applied(promote, root)
    assert left.schema == first
    [change] = left.changes
    assert (change.pointer, change.before) == ("", write(root))
    assert change.after == write(first)
    assert "/b" in change.note


@pytest.mark.parametrize(
    "root",
    [
        {"$schema": DRAFT_04, "a": {"$schema": DRAFT_04}},
        {"properties": {}, "a": {"$schema": DRAFT_04}},
        {"a": {"b": {"$schema": DRAFT_04}}},
        {"a": [{"$schema": DRAFT_04}]},
        {"a": "$schema"},
        True,
    ],
)
def test_only_members_of_roots_that_are_no_schemas_are_promoted(
    root: UntypedJson,
) -> None:
    """Not where the root is a schema, and neither from below nor out of arrays."""
    made = document(root)
    assert promote.apply(made, CONTEXT) is made


def test_a_promoted_schema_must_pass_the_metaschema_too() -> None:
    """Inside an unknown member nobody had looked at it before."""
    root = {"a": {"$schema": DRAFT_04, "exclusiveMinimum": "no", "minimum": 1}}
    ended = promote.apply(document(root), CONTEXT)
    assert isinstance(ended, Rejected)
    assert ended.reason is Reason.INVALID_SCHEMA
    assert ended.detail.startswith("in /a: /exclusiveMinimum: ")


def test_a_library_is_wrapped_by_what_it_defines() -> None:
    """Dotted paths without `definitions` name properties that all are required."""
    root = {
        "definitions": {
            "a": {"type": "string"},
            "group": {"b": {"enum": [1]}, "note": {"title": "nothing"}},
            "c/d": {"properties": {"inner": {"type": "string"}}},
        },
        "required": ["x"],
    }
    left = applied(wrap, root)
    assert left.schema == {
        "definitions": root["definitions"],
        "properties": {
            "a": {"$ref": "#/definitions/a"},
            "group.b": {"$ref": "#/definitions/group/b"},
            "c/d": {"$ref": "#/definitions/c~1d"},
        },
        "required": ["a", "group.b", "c/d"],
    }
    assert list(left.schema) == ["definitions", "required", "properties"]
    properties, required = left.changes
    assert (properties.pointer, properties.before) == ("/properties", ABSENT)
    assert (required.pointer, required.before) == ("/required", '["x"]')


@pytest.mark.parametrize(
    "root",
    [
        {"$schema": DRAFT_04, "type": "array", "definitions": {"a": {"enum": [1]}}},
        {"$schema": DRAFT_04, "minProperties": 1, "definitions": {"a": {"enum": [1]}}},
        {"title": "no sign of a schema", "a": {"type": "string"}},
        {"definitions": {"a": {"type": "object"}, "b": {"type": "git"}}},
        {"definitions": {"a": [{"type": "string"}]}},
    ],
)
def test_nothing_else_is_wrapped(root: UntypedJson) -> None:
    """Not where the root asks something, is no schema, or holds no schema."""
    made = document(root)
    assert wrap.apply(made, CONTEXT) is made


LIBRARIES = st.dictionaries(
    st.sampled_from(["a", "b/c", "d~e", "definitions", "type", "properties"]),
    st.recursive(
        st.sampled_from(["object", "string", 7, None, {"minimum": 1}]),
        lambda inner: st.dictionaries(
            st.sampled_from(["a", "definitions", "title", "x/y", "~1", "enum"]), inner
        ),
        max_leaves=12,
    ),
)


@given(LIBRARIES)
def test_every_entry_stands_where_its_pointer_says(
    root: dict[str, UntypedJson],
) -> None:
    """Entries are objects of the root, none inside another, in file order."""
    found = list(entries(root))
    assert all(isinstance(at(root, tokens), dict) for tokens in found)
    assert not any(
        one != other and other[: len(one)] == one for one in found for other in found
    )


@given(LIBRARIES)
def test_a_wrap_makes_a_root_that_constrains(root: dict[str, UntypedJson]) -> None:
    """A document is wrapped once: then its root asks something, and all resolves."""
    made = document({"$schema": DRAFT_04, **root})
    left = wrap.apply(made, CONTEXT)
    assert isinstance(left, Document)
    if left is made:
        return
    assert constrains(left.schema)
    assert wrap.apply(left, CONTEXT) is left
    for each in left.schema["properties"].values():
        assert isinstance(at(made.schema, tokens_of(each["$ref"][1:])), dict)


def test_a_root_with_items_becomes_an_array() -> None:
    """Only `type` changes, where it stands."""
    left = applied(array_type, {"type": "object", "items": {}, "title": "t"})
    assert write(left.schema) == '{"type": "array", "items": {}, "title": "t"}'
    assert [each.pointer for each in left.changes] == ["/type"]


@pytest.mark.parametrize(
    "root",
    [
        {"type": "object", "items": {}, "properties": {}},
        {"type": "object", "items": [{}]},
        {"type": ["object"], "items": {}},
        {"properties": {"a": {"type": "object", "items": {}}}},
    ],
)
def test_other_objects_with_items_stay(root: UntypedJson) -> None:
    """Nested ones, those with an applying word, and lists stay as they are."""
    made = document(root)
    assert array_type.apply(made, CONTEXT) is made


def test_boolean_bounds_of_a_promoted_schema_become_numbers() -> None:
    """Only where the schema does not pass `check_schema` as it stands."""
    inner = {"$schema": DRAFT_04, "maximum": 9, "exclusiveMaximum": True}
    result = applied(promote, {"schema": inner})
    assert result.schema == {"$schema": DRAFT_04, "exclusiveMaximum": 9}
    plain = {"$schema": DRAFT_04, "exclusiveMaximum": 9}
    assert applied(promote, {"schema": plain}).schema is plain


def test_plain_names_of_a_promoted_schema_become_pointers() -> None:
    """Where 2020-12 refuses them, and with the references to them; others stay."""
    definition = {"$id": "#entry", "type": "string"}
    inner: UntypedJson = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"entry": definition},
        "items": {"$ref": "#entry"},
    }
    result = applied(promote, {"schema": inner})
    assert result.schema == {
        **inner,
        "definitions": {"entry": {"type": "string"}},
        "items": {"$ref": "#/definitions/entry"},
    }
    own: UntypedJson = {**inner, "definitions": {"entry": {"$id": "x.json"}}}
    assert applied(promote, {"schema": own}).schema is own
