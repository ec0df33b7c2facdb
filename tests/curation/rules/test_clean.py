"""Rules of set `clean` that look at one schema: roots, words, patterns, dialects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import ABSENT, Document, Lint, Origin, Reason, Rejected
from curation.json.text import canonical, write
from curation.references import verdicts
from curation.references.verdicts import ONE_IN, is_in_share
from curation.rules.clean import (
    array_root,
    check_metaschema,
    dead_keywords,
    decide_dialect,
    empty,
    identifiers,
    is_uri_reference,
    patterns,
    promote,
    template,
    unsatisfiable,
    usable,
    validators_agree,
    wrap,
)
from curation.schema.dialects import BY_NAME, DIALECTS, DRAFT_04, DRAFT_2020_12
from curation.schema.drafts import StatementKind, statement
from curation.validation.metaschemas import is_valid
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
