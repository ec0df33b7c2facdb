"""References in rule set `clean`: in one document, and to others brought in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from curation.core.documents import ABSENT, Document, Reason, Rejected
from curation.core.rule import Context
from curation.rules.clean import references, wrap
from tests.curation.judges import accepts, rust_accepts
from tests.curation.rules.documents_made import (
    CONTEXT,
    SITE,
    document,
    reason_of,
    record_of,
    result_of,
)

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {}}},
        {"properties": {"a": {"$ref": "#"}}},
        {
            "properties": {"a": {"$ref": "#name"}},
            "definitions": {"x": {"$id": "#name"}},
        },
        {"items": {"$ref": "#/types/a"}, "types": {"a": {"type": "string"}}},
        {"properties": {"$ref": {"type": "string"}}},
        {"enum": [{"$ref": "#/nowhere"}]},
    ],
)
def test_what_stands_alone_is_left_as_it_is(schema: UntypedJson) -> None:
    """References that resolve inside the record are not touched."""
    made = document(schema, dialect="draft-07")
    assert references.apply(made, CONTEXT) is made


def test_a_reference_to_its_own_document_becomes_a_fragment() -> None:
    """However it is spelled, what leads to the same document needs no address."""
    schema = {
        "$id": SITE + "me",
        "items": {"$ref": SITE + "me#/x"},
        "contains": {"$ref": "me"},
        "x": {"type": "null"},
    }
    result = references.apply(document(schema, dialect="draft-07"), CONTEXT)
    assert isinstance(result, Document)
    assert result.schema["items"] == {"$ref": "#/x"}
    assert result.schema["contains"] == {"$ref": "#"}


@pytest.mark.parametrize(
    "reference",
    [
        "#/definitions/missing",
        "#missing",
        "#/type",
        "#/required",
        "#/definitions/x/~1",
        5,
        None,
        ["#"],
        {"type": "string"},
    ],
)
def test_a_reference_that_leads_nowhere_ends_the_record(reference: UntypedJson) -> None:
    """Nowhere, or to what is no schema: the reason is `unresolved_reference`."""
    schema = {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"$ref": reference}},
        "definitions": {"x": {}},
    }
    assert reason_of(schema) is Reason.UNRESOLVED_REFERENCE


@pytest.mark.parametrize(
    "reference",
    [
        "http://127.0.0.1:9/a.json",
        "https://elsewhere.example/a.json#/b",
        "file:///etc/passwd",
        "ftp://elsewhere.example/a",
        "data:application/json,{}",
        "//elsewhere.example/a.json",
        "../../a.json",
        "a.json",
        "urn:made:thing",
    ],
)
def test_a_reference_out_of_the_source_ends_the_record(reference: str) -> None:
    """Nothing is fetched or read: the reason is `remote_reference`."""
    assert reason_of({"properties": {"a": {"$ref": reference}}}) is (
        Reason.REMOTE_REFERENCE
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"not": {"$ref": "#"}},
        {"anyOf": [{"type": "string"}, {"$ref": "#"}]},
        {
            "$ref": "#/definitions/a",
            "definitions": {
                "a": {"$ref": "#/definitions/b"},
                "b": {"allOf": [{"$ref": "#/definitions/a"}]},
            },
        },
        {"dependencies": {"a": {"$ref": "#"}}},
        {"if": {"$ref": "#"}, "then": {}},
    ],
)
def test_a_reference_that_never_ends_ends_the_record(schema: UntypedJson) -> None:
    """To judge an instance by it, a validator would recurse for ever."""
    assert reason_of(schema) is Reason.UNRESOLVED_REFERENCE


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#"}}},
        {"items": {"allOf": [{"$ref": "#"}]}},
        {"additionalProperties": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}},
        {"contains": {"$ref": "#"}},
    ],
)
def test_recursion_that_moves_on_is_kept(schema: UntypedJson) -> None:
    """A step into the instance makes recursion end with the instance."""
    assert record_of(schema) == schema


def test_a_pointer_inside_an_embedded_resource_starts_there() -> None:
    """An identifier on the way changes what `#` means (F24)."""
    broken = {
        "properties": {
            "a": {"$id": "/properties/a", "items": {"$ref": "#/definitions/x"}}
        },
        "definitions": {"x": {"type": "string"}},
    }
    assert reason_of(broken) is Reason.UNRESOLVED_REFERENCE
    whole = {**broken, "$id": SITE + "r"}
    whole["properties"] = {"a": {"$id": "a", "items": {"$ref": "r#/definitions/x"}}}
    kept = record_of(whole)
    assert kept["properties"] == {"a": {"items": {"$ref": "#/definitions/x"}}}
    for instance in ({"a": ["x"]}, {"a": [1]}):
        expected = accepts(whole, instance, "draft-07")
        assert rust_accepts(kept, instance, "draft-07") is expected


def test_a_circle_that_nothing_reaches_does_no_harm() -> None:
    """A definition that no one uses may be what it likes."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/fine"}},
        "definitions": {"fine": {}, "mad": {"$ref": "#/definitions/mad"}},
    }
    assert record_of(schema) == schema


def test_jsonschema_must_find_the_same_place() -> None:
    """A relative identifier of the root is joined to itself there, and gets lost."""
    schema = {
        "$id": "sub/",
        "allOf": [{"$ref": "#name"}],
        "definitions": {"named": {"$id": "#name", "type": "string"}},
    }
    assert reason_of(schema) is Reason.UNRESOLVED_REFERENCE


def test_a_reference_that_the_wrap_added_is_not_called_the_authors() -> None:
    """The place named is that of the definition, which the file itself holds."""
    library = {
        "$schema": "http://json-schema.org/draft-06/schema#",
        "things": {"enum": {"a": 1}, "items": {"enum": [1]}},
    }
    wrapped = wrap.apply(document(library, dialect="draft-06"), CONTEXT)
    assert isinstance(wrapped, Document)
    lost = references.apply(wrapped, CONTEXT)
    assert isinstance(lost, Rejected)
    assert lost.pointer == "/things"
    assert lost.reason is Reason.INVALID_SCHEMA
    assert lost.detail.endswith('/enum: {"a": 1} is not of type "array"')


def test_a_lost_reference_of_the_author_says_where_it_stands() -> None:
    """Its place in the record, for whoever mends it."""
    schema = {"properties": {"a": {"$ref": "#/definitions/x"}}}
    lost = references.apply(document(schema, dialect="draft-07"), CONTEXT)
    assert isinstance(lost, Rejected)
    assert lost.pointer == "/properties/a/$ref"


def test_a_document_of_the_source_is_brought_in() -> None:
    """The target comes under `definitions`, readable, and is pointed at."""
    other = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SITE + "common.json",
        "definitions": {
            "name": {"type": "string", "minLength": 1},
            "pair": {"items": {"$ref": "#/definitions/name"}},
            "unused": {"$ref": "https://elsewhere.example/x"},
        },
    }
    schema = {"properties": {"a": {"$ref": "common.json#/definitions/pair"}}}
    kept = record_of(schema, {SITE + "common.json": other}, base_uri=SITE + "me.json")
    assert kept == {
        "properties": {"a": {"$ref": "#/definitions/pair"}},
        "definitions": {
            "pair": {"items": {"$ref": "#/definitions/name"}},
            "name": {"type": "string", "minLength": 1},
        },
    }


def test_later_drafts_keep_definitions_under_their_own_word() -> None:
    """2019-09 and 2020-12 hold what is brought in under `$defs`."""
    kept = record_of(
        {"items": {"$ref": SITE + "a"}}, {SITE + "a": {"type": "null"}}, "2020-12"
    )
    assert kept == {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "null"}}}


def test_a_whole_document_keeps_its_own_definitions() -> None:
    """Pointers into a document that comes in whole point inside it."""
    other = {
        "items": {"$ref": "#/definitions/n"},
        "definitions": {"n": {"type": "null"}},
    }
    kept = record_of(
        {"items": {"$ref": SITE + "list.json"}}, {SITE + "list.json": other}
    )
    assert kept["definitions"] == {
        "list": {
            "items": {"$ref": "#/definitions/list/definitions/n"},
            "definitions": {"n": {"type": "null"}},
        }
    }


def test_names_do_not_collide() -> None:
    """A name that the record has already is left to it."""
    documents = {
        SITE + "a/x.json": {"definitions": {"n": {"type": "null"}}},
        SITE + "b/x.json": {"definitions": {"n": {"type": "string"}}},
    }
    schema = {
        "properties": {
            "own": {"$ref": "#/definitions/n"},
            "a": {"$ref": SITE + "a/x.json#/definitions/n"},
            "b": {"$ref": SITE + "b/x.json#/definitions/n"},
        },
        "definitions": {"n": {"type": "number"}},
    }
    kept = record_of(schema, documents)
    assert kept["definitions"] == {
        "n": {"type": "number"},
        "x.n": {"type": "null"},
        "x.n-2": {"type": "string"},
    }
    assert rust_accepts(kept, {"own": 1, "a": None, "b": "x"}, "draft-07")
    assert not rust_accepts(kept, {"b": None}, "draft-07")


def test_documents_that_refer_to_each_other_come_in_once() -> None:
    """A circle of documents ends at the record itself."""
    me = {"$id": SITE + "me", "properties": {"you": {"$ref": "you"}}}
    you = {
        "$id": SITE + "you",
        "properties": {"me": {"$ref": "me"}},
        "minProperties": 1,
    }
    kept = record_of(me, {SITE + "you": you, SITE + "me": me})
    assert kept == {
        "$id": SITE + "me",
        "properties": {"you": {"$ref": "#/definitions/you"}},
        "definitions": {
            "you": {"properties": {"me": {"$ref": "#"}}, "minProperties": 1}
        },
    }


def test_inner_identifiers_go_where_no_pointer_could_reach_the_root() -> None:
    """A reference out of an embedded resource needs the root's base."""
    schema = {
        "$id": SITE + "me",
        "properties": {
            "a": {
                "$id": "inner",
                "items": {"$ref": "other"},
                "contains": {"$ref": "#/definitions/z"},
                "definitions": {"z": {"type": "null"}},
            }
        },
    }
    result = result_of(schema, {SITE + "other": {"type": ["null", "string"]}})
    assert isinstance(result, Document)
    assert result.schema["properties"]["a"] == {
        "items": {"$ref": "#/definitions/other"},
        "contains": {"$ref": "#/properties/a/definitions/z"},
        "definitions": {"z": {"type": "null"}},
    }
    assert rust_accepts(result.schema, {"a": [None, "x"]}, "draft-07")
    assert not rust_accepts(result.schema, {"a": ["x"]}, "draft-07")


def test_what_lies_in_an_unknown_word_of_another_document_is_followed() -> None:
    """A pointer into `#/types` of a document that comes in whole is turned too."""
    other = {
        "items": {"$ref": "#/types/a"},
        "types": {"a": {"$ref": "#/types/b"}, "b": {}},
    }
    kept = record_of({"items": {"$ref": SITE + "o"}}, {SITE + "o": other})
    assert kept["definitions"]["o"] == {
        "items": {"$ref": "#/definitions/o/types/a"},
        "types": {"a": {"$ref": "#/definitions/o/types/b"}, "b": {}},
    }


@pytest.mark.parametrize("dialect", ["draft-04", "draft-06", "draft-07"])
def test_a_metaschema_is_brought_in(dialect: str) -> None:
    """A reference to a draft's own metaschema resolves offline."""
    uri = f"http://json-schema.org/{dialect}/schema#"
    kept = record_of({"properties": {"s": {"$ref": uri}}}, dialect=dialect)
    assert rust_accepts(kept, {"s": {"type": "string"}}, dialect)
    assert not rust_accepts(kept, {"s": {"type": "text"}}, dialect)
    assert not rust_accepts(kept, {"s": {"properties": {"a": {"type": 1}}}}, dialect)
    assert "http" not in str(kept["properties"])


@pytest.mark.parametrize(
    ("other", "dialect", "good", "bad"),
    [
        ({"maximum": 5, "exclusiveMaximum": True}, "draft-07", 4, 5),
        ({"maximum": 5, "exclusiveMaximum": False}, "draft-07", 5, 6),
        ({"type": "string", "const": "x"}, "draft-07", "y", 1),
        ({"dependencies": {"a": ["b"]}}, "2020-12", {"b": 1}, {"a": 1}),
        ({"dependencies": {"a": {"minProperties": 2}}}, "2020-12", {"b": 1}, {"a": 1}),
        ({"items": [{"type": "null"}]}, "2020-12", [None, 1], [1]),
        (
            {
                "items": {"$ref": "#n"},
                "definitions": {"n": {"id": "#n", "type": "null"}},
            },
            "2020-12",
            [None],
            [1],
        ),
        (
            {"items": [{}], "additionalItems": {"type": "null"}},
            "2020-12",
            [1, None],
            [1, 1],
        ),
        (
            {"$ref": "#/definitions/s", "minLength": 9, "definitions": {"s": {}}},
            "2020-12",
            "a",
            ...,
        ),
    ],
)
def test_a_document_of_an_older_draft_is_said_in_the_records_words(
    other: UntypedJson, dialect: str, good: UntypedJson, bad: UntypedJson
) -> None:
    """Draft-04 is brought into later records with the meaning that it had."""
    other = {"$schema": "http://json-schema.org/draft-04/schema#", **other}
    kept = record_of({"items": {"$ref": SITE + "o"}}, {SITE + "o": other}, dialect)
    assert rust_accepts(kept, [good], dialect)
    assert bad is ... or not rust_accepts(kept, [bad], dialect)


@pytest.mark.parametrize(
    "other",
    [
        {"if": {"type": "string"}, "then": {"minLength": 1}},
        {"const": 1},
        {"properties": {"a": True}},
        {"exclusiveMaximum": 5},
    ],
)
def test_what_the_records_draft_cannot_say_ends_the_record(other: UntypedJson) -> None:
    """A draft-04 record cannot hold what only draft-07 has words for."""
    other = {"$schema": "http://json-schema.org/draft-07/schema#", **other}
    schema = {"items": {"$ref": SITE + "o"}}
    reason = reason_of(schema, {SITE + "o": other}, "draft-04")
    assert reason is Reason.UNRESOLVED_REFERENCE


def test_a_document_that_is_no_valid_schema_ends_the_record() -> None:
    """What comes in must be valid under the record's dialect."""
    documents = {SITE + "o": {"type": "text"}}
    assert (
        reason_of({"items": {"$ref": SITE + "o"}}, documents) is Reason.INVALID_SCHEMA
    )


@pytest.mark.parametrize("other", [[], "text", 5, None])
def test_a_document_that_is_no_object_is_no_schema(other: UntypedJson) -> None:
    """An array, a text or a number cannot be referred to."""
    assert isinstance(
        result_of({"items": {"$ref": SITE + "o"}}, {SITE + "o": other}), Rejected
    )


def test_characters_that_no_uri_may_hold_are_escaped() -> None:
    """jsonschema-rs refuses them raw; escaped they lead to the same schema."""
    schema = {
        "items": {"$ref": "#/definitions/List<a b>"},
        "definitions": {"List<a b>": {"type": "null"}},
    }
    kept = record_of(schema)
    assert kept["items"] == {"$ref": "#/definitions/List%3Ca%20b%3E"}
    assert rust_accepts(kept, [None], "draft-07")
    assert not rust_accepts(kept, [1], "draft-07")


def test_a_chain_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that always refers to one more document is too large."""

    class Endless:
        def get(self, uri: str) -> UntypedJson:
            return {"items": {"$ref": uri + "x"}}

    monkeypatch.setattr("curation.references.closure.MOST_REACHED", 50)
    result = references.apply(
        document({"items": {"$ref": SITE + "x"}}, dialect="draft-07"),
        Context(library=Endless()),
    )
    assert isinstance(result, Rejected)
    assert result.reason is Reason.TOO_LARGE


def test_a_document_comes_in_once_however_the_library_remembers_it() -> None:
    """A library may read a document anew each time that it is asked."""

    class Forgetful:
        @staticmethod
        def get(_uri: str) -> UntypedJson:
            return {"type": "string"}

    names = [f"{SITE}{n % 3}.json" for n in range(6)]
    schema = {"properties": {str(n): {"$ref": it} for n, it in enumerate(names)}}
    made = references.apply(document(schema), Context(library=Forgetful()))
    assert isinstance(made, Document)
    assert len(made.schema["$defs"]) == 3


_NULL: UntypedJson = {"type": "null"}


def _other(reference: str, **members: UntypedJson) -> UntypedJson:
    """Return a document that refers to itself and has these members."""
    return {"items": {"$ref": reference}, **members}


@pytest.mark.parametrize(
    ("reference", "other", "dialect"),
    [
        ("o", _other("#/definitions/a%20b", definitions={"a b": _NULL}), "draft-07"),
        ("o", _other("#/definitions/a<b>", definitions={"a<b>": _NULL}), "draft-07"),
        ("o", _other("#/definitions/a~1b", definitions={"a/b": _NULL}), "draft-07"),
        ("o", _other("#/definitions/a%25b", definitions={"a%b": _NULL}), "draft-07"),
        (
            "o",
            _other("#name", definitions={"a": {"$id": "#name", **_NULL}}),
            "draft-07",
        ),
        ("o#name", {"$defs": {"a": {"$anchor": "name", "items": _NULL}}}, "2020-12"),
        (
            "o",
            # An anchor of one resource is none of another.
            _other(
                "in/ner#name",
                **{
                    "$defs": {
                        "a": {"$anchor": "name", "type": "string"},
                        "b": {
                            "$id": "in/ner",
                            "$defs": {"c": {"$anchor": "name", **_NULL}},
                        },
                    }
                },
            ),
            "2020-12",
        ),
        (
            "o",
            # Relative to the identifier in whose resource it stands.
            _other(
                "in/ner",
                definitions={
                    "a": {"$id": "in/ner", "allOf": [{"$ref": "leaf"}]},
                    "b": {"$id": "in/leaf", **_NULL},
                    "c": {"$id": "leaf", "type": "string"},
                },
            ),
            "draft-07",
        ),
        (
            "o#/definitions/a/definitions/b",
            # From its own document a pointer leads into an embedded resource.
            {
                "definitions": {
                    "a": {
                        "$id": "inner",
                        "definitions": {"b": _other("#/definitions/c"), "c": _NULL},
                    },
                    "c": {"type": "string"},
                }
            },
            "draft-07",
        ),
        (
            "o",
            # In a member that no draft knows, a pointer starts from the same resource.
            _other(
                "inner#/types/a",
                definitions={
                    "i": {
                        "$id": "inner",
                        "types": {"a": {"$ref": "#/types/b"}, "b": _NULL},
                    }
                },
            ),
            "draft-07",
        ),
        (
            "o",
            # An instance that looks like an identifier, and one like a reference.
            _other(
                "leaf",
                anyOf=[{"const": {"$id": "leaf", "$ref": "#/a"}}, {"type": "array"}],
                definitions={"a": {"$id": "leaf", **_NULL}},
            ),
            "draft-07",
        ),
        (
            "o",
            # Up to draft-07 a reference hides what stands beside it...
            _other(
                "#/definitions/a",
                definitions={
                    "a": {"$ref": "#/definitions/b", "$id": "x", "type": "string"},
                    "b": _NULL,
                },
            ),
            "draft-07",
        ),
        (
            "o",
            # ... and later it does not.
            _other(
                "#/$defs/a",
                **{
                    "$defs": {
                        "a": {"$ref": "#/$defs/b", "type": "null"},
                        "b": {"type": ["null", "number"]},
                    }
                },
            ),
            "2019-09",
        ),
    ],
)
def test_a_reference_leads_where_it_led(
    reference: str, other: UntypedJson, dialect: str
) -> None:
    """Both validators judge the bundle as jsonschema judges the documents."""
    schema = {"properties": {"p": {"$ref": SITE + reference}}}
    documents = {SITE + "o": other}
    kept = record_of(schema, documents, dialect)
    for instance, verdict in (({"p": [None]}, True), ({"p": [1]}, False)):
        assert accepts(schema, instance, dialect, documents) is verdict
        assert accepts(kept, instance, dialect) is verdict
        assert rust_accepts(kept, instance, dialect) is verdict


def test_a_reference_that_no_reader_visits_is_dropped_if_it_leads_out() -> None:
    """In a member that no draft knows; what is an instance stays as it is."""
    example = {"$ref": SITE + "instance"}
    other = {
        "gallery": {"a": {"$ref": SITE + "gone", "title": "t"}, "b": {"$ref": "#/x"}},
        "enum": [example],
        "default": example,
        "properties": {"$ref": {"default": example}},
    }
    schema = {
        "items": {"$ref": SITE + "o"},
        "contains": {"$ref": "#/types/n"},
        "types": {"n": {"enum": [example], "own": [{"$ref": "out.json"}]}},
    }
    result = result_of(schema, {SITE + "o": other})
    assert isinstance(result, Document)
    assert result.schema["definitions"]["o"] == {
        **other,
        "gallery": {"a": {"title": "t"}, "b": {"$ref": "#/x"}},
    }
    assert result.schema["types"] == {"n": {"enum": [example], "own": [{}]}}
    dropped = {
        change.pointer: change.note
        for change in result.changes
        if change.after == ABSENT
    }
    why = "it leads out of the record, and no keyword leads to it"
    assert dropped == {"/definitions/o/gallery/a/$ref": why, "/types/n/own/0/$ref": why}


def test_a_record_that_refers_to_nothing_else_loses_such_a_reference_too() -> None:
    """The only reference of a record may be one that no reader visits."""
    schema = {"type": "object", "x-more": {"$ref": "https://elsewhere.example/a"}}
    assert record_of(schema) == {"type": "object", "x-more": {}}


def test_one_document_may_be_referred_to_by_http_and_by_https() -> None:
    """Both lead to the same place, in whatever order they come."""
    uri = "json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"
    schema = {"allOf": [{"$ref": f"http://{uri}"}, {"$ref": f"https://{uri}"}]}
    kept = record_of(schema)
    assert kept["allOf"] == [{"$ref": "#/definitions/nonNegativeInteger"}] * 2


_NAMES = st.sampled_from(["x", "y", "a b"])
_FILES = st.sampled_from(["a.json", "b.json", "me.json"])


def _references() -> st.SearchStrategy[UntypedJson]:
    pointers = st.builds(
        "#/definitions/{}".format, st.sampled_from(["x", "y", "a%20b"])
    )
    fragments = st.one_of(pointers, st.just(""), st.just("#"), st.just("#name"))
    return st.builds(
        lambda file, fragment: {"$ref": file + fragment},
        st.one_of(st.just(""), _FILES),
        fragments,
    )


def _schemas() -> st.SearchStrategy[UntypedJson]:
    leaves = st.one_of(
        st.sampled_from(
            [
                {},
                {"type": "string"},
                {"type": "object"},
                {"minimum": 2},
                {"enum": [1, "a"]},
            ]
        ),
        _references(),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(lambda each: {"items": each}, inner),
            st.builds(
                lambda each: {"properties": each},
                st.dictionaries(_NAMES, inner, max_size=2),
            ),
            st.builds(
                lambda each: {"anyOf": each}, st.lists(inner, min_size=1, max_size=2)
            ),
            st.builds(lambda each: {"$id": "sub/", "allOf": [each]}, inner),
        ),
        max_leaves=4,
    )


def _documents() -> st.SearchStrategy[UntypedJson]:
    return st.builds(
        lambda schema, definitions, named: {
            **schema,
            "definitions": {**definitions, "named": {"$id": "#name", **named}},
        },
        _schemas(),
        st.dictionaries(_NAMES, _schemas(), max_size=3),
        st.sampled_from([{"type": "string"}, {"type": "null"}]),
    )


_INSTANCES = st.recursive(
    st.sampled_from([1, 2, "a", "b", None]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(_NAMES, inner, max_size=2)
    ),
    max_leaves=4,
)


@pytest.mark.slow
@given(_documents(), _documents(), _documents(), st.lists(_INSTANCES, min_size=4))
def test_bringing_documents_in_does_not_change_what_is_accepted(
    me: UntypedJson, a: UntypedJson, b: UntypedJson, instances: list[UntypedJson]
) -> None:
    """The bundle is judged by jsonschema as the documents are side by side."""
    # Of two schemas with one URI, jsonschema takes whichever it has met last.
    assume(json.dumps([me, a, b]).count('"$id": "sub/"') <= 1)
    me, a, b = (
        {**e, "$id": SITE + n}
        for n, e in (("me.json", me), ("a.json", a), ("b.json", b))
    )
    documents = {SITE + "a.json": a, SITE + "b.json": b}
    result = result_of(me, documents)
    assume(isinstance(result, Document))
    assert isinstance(result, Document)
    for instance in instances:
        before = accepts(me, instance, "draft-07", documents)
        assert accepts(result.schema, instance, "draft-07") is before
        assert rust_accepts(result.schema, instance, "draft-07") is before
    again = references.apply(result, CONTEXT)
    assert isinstance(again, Document)
    assert again.schema == result.schema
