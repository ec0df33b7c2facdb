"""Rules of set `clean` that look at one schema: roots, words, names, patterns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import ABSENT, Document, Origin, Reason, Rejected
from curation.json.text import write
from curation.rules.clean import (
    array_root,
    dead_keywords,
    empty,
    identifiers,
    is_uri_reference,
    patterns,
    promote,
    template,
    unsatisfiable,
    usable,
    wrap,
)
from tests.curation.judges import rust_accepts
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def test_an_object_root_is_left_alone() -> None:
    """A root that is an object passes, the very same document."""
    given = document({"type": "string"})
    assert array_root.apply(given, CONTEXT) is given


def test_an_array_of_one_object_is_unwrapped() -> None:
    """The one object of an array becomes the schema, and the change says so."""
    result = array_root.apply(document([{"type": "string"}]), CONTEXT)
    assert isinstance(result, Document)
    assert result.schema == {"type": "string"}
    (change,) = result.changes
    assert (change.rule, change.pointer) == (array_root.name, "")
    assert change.before == '[{"type": "string"}]'
    assert change.after == '{"type": "string"}'


@pytest.mark.parametrize(
    ("root", "told"),
    [
        ([], "an array of 0"),
        ([{}, {}], "an array of 2"),
        ([[{}]], "an array of 1"),
        ([True], "an array of 1"),
        (True, "a boolean"),
        (False, "a boolean"),
        (None, "null"),
        (3, "a number"),
        (2.5, "a number"),
        ("text", "a string"),
    ],
)
def test_other_roots_are_no_schema(root: UntypedJson, told: str) -> None:
    """What is neither an object nor an array of one is rejected and described."""
    result = array_root.apply(document(root), CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.NOT_A_SCHEMA
    assert told in result.detail


def _wrapped(schema: UntypedJson) -> UntypedJson:
    result = wrap.apply(document(schema), CONTEXT)
    assert isinstance(result, Document)
    return result.schema


def test_an_embedded_schema_takes_the_place_of_the_root() -> None:
    """The whole root is in the change, so that nothing is lost."""
    inner: UntypedJson = {"$schema": "s", "type": "object", "properties": {"a": {}}}
    root = {"name": "tool", "inputs": [1], "input_schema": inner}
    result = promote.apply(document(root), CONTEXT)
    assert isinstance(result, Document)
    assert result.schema == inner
    assert result.changes[0].before == write(root)


def test_a_schema_of_its_own_is_not_touched() -> None:
    """A root that asks something keeps its place."""
    made = document({"properties": {"a": {"$schema": "s"}}})
    assert promote.apply(made, CONTEXT) is made


def test_a_library_becomes_an_object_with_optional_properties() -> None:
    """One property for each definition, none required, `type` added."""
    root = {
        "$schema": "s",
        "definitions": {"a": {"type": "string"}, "b": {"enum": [1]}},
    }
    result = wrap.apply(document(root), CONTEXT)
    assert isinstance(result, Document)
    assert result.schema == {
        **root,
        "type": "object",
        "properties": {
            "a": {"$ref": "#/definitions/a"},
            "b": {"$ref": "#/definitions/b"},
        },
    }
    assert list(result.schema)[:2] == ["$schema", "definitions"]
    assert [(c.pointer, c.before) for c in result.changes] == [
        ("/type", ABSENT),
        ("/properties", ABSENT),
    ]


def test_required_names_are_never_overwritten() -> None:
    """A root that requires names asks something, and is left alone."""
    root = {"definitions": {"a": {"type": "string"}}, "required": ["a"]}
    assert _wrapped(root) == root


def test_a_recursive_definition_leaves_a_wrap_that_objects_satisfy() -> None:
    """What requires itself without end is an optional member."""
    endless = {
        "type": "object",
        "required": ["next"],
        "properties": {"next": {"$ref": "#/definitions/node"}},
    }
    wrapped = _wrapped({"definitions": {"node": endless}})
    assert rust_accepts(wrapped, {}, "draft-07")
    assert not rust_accepts(wrapped, [], "draft-07")


def test_hostile_names_survive_wrapping() -> None:
    """Names with slashes, tildes, quotes, spaces or nothing at all are escaped."""
    names = ["a/b", "a~b", 'a"b', "a b", "", "__proto__", "\u202e", "%41", "x" * 10_000]
    root = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {name: {"const": name} for name in names},
    }
    wrapped = _wrapped(root)
    for name in names:
        assert rust_accepts(wrapped, {name: name}, "draft-07")
        assert not rust_accepts(wrapped, {name: 1}, "draft-07")


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.sampled_from([{"type": "null"}, {}, {"x": {"const": 1}}]),
    )
)
def test_a_wrap_is_typed_satisfiable_and_final(definitions: UntypedJson) -> None:
    """Whatever the library holds, `{}` satisfies its wrap, and wrapping ends."""
    root = {"type": "object", "definitions": definitions}
    wrapped = _wrapped(root)
    assert wrapped["type"] == "object"
    assert rust_accepts(wrapped, {}, "draft-07")
    assert _wrapped(wrapped) == wrapped


@pytest.mark.parametrize(
    "root",
    [
        {"$schema": "s"},
        {"$schema": "s", "title": "t", "self": {"vendor": "v"}},
        {"type": "object"},
        {"type": "object", "additionalProperties": False},
        {"type": "object", "additionalProperties": True},
        {"definitions": {"a": {"description": "d"}}},
        {"name": "a package", "version": "1"},
        {},
    ],
)
def test_what_restricts_nothing_is_dropped(root: UntypedJson) -> None:
    """There is nothing to generate or to reject by."""
    result = empty.apply(document(root), CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.EMPTY


@pytest.mark.parametrize(
    ("root", "why"),
    [
        ({"type": "object"}, "asks for an object"),
        ({"items": {}}, "restricts nothing"),
        ({"not": False}, "restricts nothing"),
        ({"name": "a package", "description": "d"}, "no keyword"),
        ({"$schema": "s", "format": "email"}, "only 'format'"),
        ({"additionalProperties": False}, "no object but the empty one"),
    ],
)
def test_the_reason_says_what_the_root_has(root: UntypedJson, why: str) -> None:
    """A root with a type is not said to restrict nothing."""
    result = empty.apply(document(root), CONTEXT)
    assert isinstance(result, Rejected)
    assert why in result.detail


def test_a_schema_of_encoded_content_is_no_definition() -> None:
    """An annotation restricts nothing, and is not wrapped."""
    root = {"contentMediaType": "application/json", "contentSchema": {"type": "null"}}
    assert _wrapped({"type": "object", **root}) == {"type": "object", **root}


@pytest.mark.parametrize(
    "root",
    [
        {"type": "object", "properties": {}},
        {"type": "object", "additionalProperties": {}},
        {"type": "string"},
        {"required": ["a"]},
        {"minProperties": 1},
        {"$ref": "#/definitions/a"},
        {"properties": "broken"},
        {"not": {}},
        {"not": True},
        {"contains": True},
        {"contains": {}},
        {"items": False},
    ],
)
def test_what_says_something_is_not_empty(root: UntypedJson) -> None:
    """An explicit "anything goes", another type, or a keyword that asks."""
    made = document(root)
    assert empty.apply(made, CONTEXT) is made


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"${key}": 1}, "/${key}"),
        ({"properties": {"${name}": {"type": "string"}}}, "/properties/${name}"),
        ({"patternProperties": {"^${x}$": {}}}, "/patternProperties/^${x}$"),
        ({"x-settings": {"a": [{"${b}": 1}]}}, "/x-settings/a/0/${b}"),
        ({"$ref": "${base}/a.json"}, "/$ref"),
        ({"$id": "${base}/a.json"}, "/$id"),
        ({"id": "${base}/a.json"}, "/id"),
        ({"$schema": "${draft}"}, "/$schema"),
        ({"properties": {"a": {"type": "${t}"}}}, "/properties/a/type"),
        ({"type": ["string", "${t}"]}, "/type"),
        ({"enum": ["a", "${e}"]}, "/enum/1"),
        ({"enum": [{"deep": ["${e}"]}]}, "/enum/0/deep/0"),
        ({"const": {"${k}": 1}}, "/const/${k}"),
        ({"pattern": "^${x}$"}, "/pattern"),
        ({"items": "${schema}"}, "/items"),
        ({"properties": "${all}"}, "/properties"),
        ({"properties": {"a": "${schema}"}}, "/properties/a"),
        ({"allOf": [{}, "${schema}"]}, "/allOf"),
        ({"dependencies": {"a": ["${name}"]}}, "/dependencies/a"),
        ({"required": ["${name}"]}, "/required"),
        ({"minLength": "${n}"}, "/minLength"),
    ],
)
def test_a_mark_that_decides_the_meaning_drops_the_file(
    schema: UntypedJson, place: str
) -> None:
    """A key, a keyword's value or a schema with `${` is a template, and named."""
    result = template.apply(document(schema), CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.TEMPLATE
    assert place in result.detail


@pytest.mark.parametrize(
    "schema",
    [
        {"description": "use ${name}", "title": "${t}", "$comment": "${c}"},
        {"default": "${x}", "examples": [{"${k}": "${v}"}], "example": "${y}"},
        {"default": {"${key}": ["${value}"]}},
        {"properties": {"pattern": {"description": "${x}"}}},
        {"properties": {"default": {"default": "${x}"}}},
        {"x-note": "${x}", "links": [{"href": "${base}/a"}]},
        {"pattern": "^\\$\\{[a-z]+\\}$", "enum": ["$", "{"]},
    ],
)
def test_a_mark_in_text_is_text(schema: UntypedJson) -> None:
    """In annotations and in words that no draft knows `${` changes nothing."""
    given = document(schema)
    assert template.apply(given, CONTEXT) is given


def test_position_decides_what_a_keyword_is() -> None:
    """A property named `pattern` is no pattern, but its own type is a type."""
    named = {"properties": {"pattern": {"title": "${a}"}, "enum": {"default": "${b}"}}}
    assert template.apply(document(named), CONTEXT).schema == named  # type: ignore[union-attr]  # kept
    typed = {"properties": {"pattern": {"type": "${a}"}}}
    assert isinstance(template.apply(document(typed), CONTEXT), Rejected)


def edited_copy(schema: UntypedJson) -> Document:
    """Return a document that stands where the edited copies stand."""
    made = document(schema)
    path = "artifacts/x/expDataset/kubernetes/sat/kb_0_Normalized.json"
    return replace(made, provenance=replace(made.provenance, path=path))


def applied(schema: UntypedJson) -> Document:
    """Return what the rule makes of an edited copy with this schema."""
    result = dead_keywords.apply(edited_copy(schema), CONTEXT)
    assert isinstance(result, Document)
    return result


def test_dead_keywords_get_their_names_back_in_their_place() -> None:
    """All four are renamed where they stand, in their order, one change each."""
    result = applied(
        {
            "_$id": "http://example.com/a",
            "type": "object",
            "properties": {
                "when": {"_format": "date-time", "type": "string"},
                "tags": {"type": "array", "_uniqueItems": True, "_id": "t"},
            },
        }
    )
    assert list(result.schema) == ["$id", "type", "properties"]
    assert list(result.schema["properties"]["when"].items()) == [
        ("format", "date-time"),
        ("type", "string"),
    ]
    assert result.schema["properties"]["tags"] == {
        "type": "array",
        "uniqueItems": True,
        "id": "t",
    }
    assert {each.pointer for each in result.changes} == {
        "/$id",
        "/properties/when/format",
        "/properties/tags/uniqueItems",
        "/properties/tags/id",
    }


def test_a_property_of_that_name_is_no_keyword() -> None:
    """Members of `properties`, `default` and unknown words keep their names."""
    schema = {
        "properties": {"_id": {"type": "string"}, "_format": {}},
        "default": {"_format": "x"},
        "x-data": {"_id": 1},
    }
    assert applied(schema).schema is schema


def test_a_living_keyword_is_never_overwritten() -> None:
    """Where the living name is taken, the dead one goes."""
    result = applied({"_format": "a", "format": "b"})
    assert result.schema == {"format": "b"}
    (change,) = result.changes
    assert (change.pointer, change.after) == ("/_format", ABSENT)


def test_elsewhere_the_words_go() -> None:
    """Of an author's own, which do nothing, none is left and each is recorded."""
    result = dead_keywords.apply(
        document({"_id": 7, "_format": "date", "type": "x"}), CONTEXT
    )
    assert isinstance(result, Document)
    assert result.schema == {"type": "x"}
    assert [each.before for each in result.changes] == ["7", '"date"']


def test_the_user_s_own_schemas_are_left_alone() -> None:
    """A company's `_id` is its own business."""
    given = document({"_id": "x", "_format": "date"})
    own = replace(given, provenance=replace(given.provenance, origin=Origin.LOCAL))
    assert dead_keywords.apply(own, CONTEXT) is own


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#",
        "#name",
        "a/b",
        "../a?b#c",
        "//host/a",
        "http://user@host:80/a",
        "http://[::1]/a",
        "urn:made:a",
        "/properties/a",
        "a%20b",
    ],
)
def test_a_uri_reference_is_left_alone(text: str) -> None:
    """All the forms of RFC 3986."""
    assert is_uri_reference(text)
    assert usable(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a b", "a%20b"),
        ("{host}/x", "%7Bhost%7D/x"),
        ("POST /a", "POST%20/a"),
        ("50%", "50%25"),
        ("a[0]", "a%5B0%5D"),
        ("\u00e9", "%C3%A9"),
        ("a\\b", "a%5Cb"),
    ],
)
def test_what_a_uri_cannot_hold_is_escaped(before: str, after: str) -> None:
    """The identifier stays readable, and validators accept it."""
    assert usable(before) == after
    schema = {"$id": after, "items": {"$ref": "#/x"}, "x": {"type": "null"}}
    assert rust_accepts(schema, [None], "draft-07")


@pytest.mark.parametrize("text", ["1a:b", "a b:c", "#a#b", "http://a:b/"])
def test_what_escaping_cannot_save_is_hopeless(text: str) -> None:
    """A first segment with a colon, two fragments, a port of letters."""
    assert usable(text) is None


@given(st.text(max_size=20))
def test_escaping_is_idempotent(text: str) -> None:
    """Whatever the text, the result is a URI reference or there is none."""
    result = usable(text)
    assert result is None or (is_uri_reference(result) and usable(result) == result)


@pytest.mark.parametrize(
    ("dialect", "word", "other"), [("draft-04", "id", "$id"), ("draft-07", "$id", "id")]
)
def test_only_the_dialects_own_keyword_is_an_identifier(
    dialect: str, word: str, other: str
) -> None:
    """And only in keyword position."""
    schema: UntypedJson = {
        word: "a b",
        other: "c d",
        "properties": {word: {"type": "string", word: "e f"}},
        "enum": [{word: "g h"}],
    }
    result = identifiers.apply(document(schema, dialect=dialect), CONTEXT)
    assert isinstance(result, Document)
    assert result.schema == {
        word: "a%20b",
        other: "c d",
        "properties": {word: {"type": "string", word: "e%20f"}},
        "enum": [{word: "g h"}],
    }
    assert len(result.changes) == 2


def test_a_hopeless_identifier_ends_the_record() -> None:
    """The reason is `bad_identifier`."""
    result = identifiers.apply(document({"$id": "1:2 3"}, dialect="draft-07"), CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.BAD_IDENTIFIER


def _applied(schema: UntypedJson) -> Document | Rejected:
    return patterns.apply(document(schema, dialect="draft-07"), CONTEXT)


def _kept(schema: UntypedJson) -> UntypedJson:
    result = _applied(schema)
    assert isinstance(result, Document), result
    return result.schema


def test_a_fine_schema_is_returned_itself() -> None:
    """Nothing is copied where nothing changes."""
    made = document({"pattern": "^a$"}, dialect="draft-07")
    assert patterns.apply(made, CONTEXT) is made


def test_a_pattern_is_mended_and_the_change_recorded() -> None:
    """Value and place are in the change, before and after."""
    result = _applied({"properties": {"a": {"pattern": r"\d\-\d"}}})
    assert isinstance(result, Document)
    assert result.schema == {"properties": {"a": {"pattern": r"\d-\d"}}}
    change = result.changes[0]
    assert (change.pointer, change.before, change.after) == (
        "/properties/a/pattern",
        r'"\\d\\-\\d"',
        r'"\\d-\\d"',
    )


def test_names_of_pattern_properties_are_patterns() -> None:
    """They are renamed in place, order kept, what is inside mended too."""
    kept = _kept(
        {"patternProperties": {r"^\_": {"pattern": r"\:"}, "b": {}, r"c\_": {}}}
    )
    assert list(kept["patternProperties"].items()) == [
        ("^_", {"pattern": ":"}),
        ("b", {}),
        ("c_", {}),
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": r"\Aa"},
        {"items": {"pattern": "("}},
        {"patternProperties": {"*": {}}},
        {"patternProperties": {"_": {"a": 1}, r"\_": {}}},
        {
            "properties": {"a": {"$ref": "#/patternProperties/%5C_"}},
            "patternProperties": {r"\_": {"type": "string"}},
        },
    ],
)
def test_what_cannot_be_mended_ends_the_record(schema: UntypedJson) -> None:
    """No repair, two names that become one, or a reference that names it."""
    result = _applied(schema)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.BAD_PATTERN


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [{"pattern": "("}]},
        {"default": {"pattern": "("}},
        {"properties": {"pattern": {"type": "string"}}},
        {"x-other": {"pattern": "("}},
    ],
)
def test_only_keywords_are_patterns(schema: UntypedJson) -> None:
    """Data, names of properties and unknown words are left alone."""
    assert _kept(schema) == schema


def test_what_only_a_reference_reaches_is_looked_at_too() -> None:
    """A schema under an unknown word takes part once something refers to it."""
    schema = {"items": {"$ref": "#/types/a"}, "types": {"a": {"pattern": r"\_"}}}
    assert _kept(schema)["types"] == {"a": {"pattern": "_"}}


def test_the_rule_rejects_with_the_proof() -> None:
    """The detail says where, why, and by which kind of proof."""
    schema = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}},
        "required": ["next"],
    }
    result = unsatisfiable.apply(document(schema, dialect="draft-07"), CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.UNSATISFIABLE
    assert result.detail == (
        "/properties/next: every instance would be endless (endless-recursion)"
    )


def test_what_is_not_proven_stays() -> None:
    """Another branch ends the recursion."""
    schema = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["next"],
    }
    made = document(schema, dialect="draft-07")
    assert unsatisfiable.apply(made, CONTEXT) is made


def test_an_optional_property_that_cannot_be_does_no_harm() -> None:
    """Only what every instance must have is followed."""
    made = document(
        {"type": "object", "properties": {"a": {"type": "null", "enum": [1]}}},
        dialect="draft-04",
    )
    assert unsatisfiable.apply(made, CONTEXT) is made
