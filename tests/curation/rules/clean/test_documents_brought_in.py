"""References in rule set `clean` to others, which are brought in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Document, Reason, Rejected
from curation.core.rule import Context
from curation.rules.clean import references
from tests.curation.judges import rust_accepts
from tests.curation.rules.documents_made import document
from tests.curation.rules.shelf import SITE, reason_of, record_of, result_of

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


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
