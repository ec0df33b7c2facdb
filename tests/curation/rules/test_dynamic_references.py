"""References that look at their scope: the documents come in as they are."""

from __future__ import annotations

import json
from typing import Final

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema_specifications import REGISTRY

from curation.core.documents import Document, Reason
from curation.core.json_types import UntypedJson
from curation.core.rule import Context
from curation.instances.dataset.make_instances import make_instances
from curation.pipeline.process_document import apply_rules
from curation.rules.clean import references
from curation.rules.sets import rule_set
from tests.curation.judges import accepts, rust_accepts
from tests.curation.rules.documents_made import (
    CONTEXT,
    SITE,
    Shelf,
    document,
    raw_document,
    reason_of,
    record_of,
    result_of,
)

_SHELF = {
    "$id": SITE + "shelf",
    "$dynamicAnchor": "box",
    "properties": {"inside": {"items": {"$dynamicRef": "#box"}}},
}
_CRATE = {
    "$id": SITE + "crate",
    "$recursiveAnchor": True,
    "properties": {"inside": {"items": {"$recursiveRef": "#"}}},
}
_PAIR = {
    "$id": SITE + "pair",
    "items": {"$dynamicRef": "#member"},
    "$defs": {"any": {"$dynamicAnchor": "member"}},
}
_DEEP = {"inside": [{"inside": [], "lid": 1}]}


def _both_accept(record: UntypedJson, instance: UntypedJson, dialect: str) -> bool:
    """Return the verdict that jsonschema and jsonschema-rs share."""
    verdict = accepts(record, instance, dialect)
    assert rust_accepts(record, instance, dialect) is verdict
    return verdict


@pytest.mark.parametrize(
    ("schema", "dialect"),
    [
        (
            {
                "$id": SITE + "closed",
                "$dynamicAnchor": "box",
                "$ref": "shelf",
                "unevaluatedProperties": False,
            },
            "2020-12",
        ),
        (
            {
                "$id": SITE + "closed",
                "$recursiveAnchor": True,
                "$ref": "crate",
                "unevaluatedProperties": False,
            },
            "2019-09",
        ),
    ],
)
def test_a_record_that_extends_another_document_reaches_into_it(
    schema: UntypedJson, dialect: str
) -> None:
    """What the record adds holds at every depth of the tree that it extends."""
    documents = {SITE + "shelf": _SHELF, SITE + "crate": _CRATE}
    kept = record_of(schema, documents, dialect)
    assert kept["$ref"] == schema["$ref"]
    assert list(kept["$defs"].values()) == [documents[SITE + schema["$ref"]]]
    assert _both_accept(kept, {"inside": [{"inside": []}]}, dialect)
    assert not _both_accept(kept, _DEEP, dialect)


def test_one_document_serves_two_scopes() -> None:
    """The same reference has a target in each branch, as it had before."""
    schema = {
        "properties": {
            kind: {
                "$id": kind,
                "$ref": SITE + "pair",
                "$defs": {"own": {"$dynamicAnchor": "member", "type": kind}},
            }
            for kind in ("string", "number")
        }
    }
    kept = record_of(schema, {SITE + "pair": _PAIR}, "2020-12")
    assert _both_accept(kept, {"string": ["a"], "number": [1]}, "2020-12")
    assert not _both_accept(kept, {"string": [1]}, "2020-12")
    assert not _both_accept(kept, {"number": ["a"]}, "2020-12")


def test_two_ways_into_documents_with_one_anchor_stay_apart() -> None:
    """The first document in the scope that bears the anchor is the target."""
    documents = {
        SITE + "a": {"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}},
        SITE + "b": {
            "$dynamicAnchor": "n",
            "type": ["array", "object"],
            "properties": {"x": {"$ref": "a"}},
        },
    }
    schema = {"properties": {"one": {"$ref": SITE + "a"}, "two": {"$ref": SITE + "b"}}}
    kept = record_of(schema, documents, "2020-12")
    for instance, verdict in (
        ({"one": [1]}, True),
        ({"two": {"x": [[]]}}, True),
        ({"two": {"x": [1]}}, False),
    ):
        assert accepts(schema, instance, "2020-12", documents) is verdict
        assert _both_accept(kept, instance, "2020-12") is verdict


@pytest.mark.parametrize(
    ("schema", "dialect"),
    [
        (
            {
                "$id": SITE + "me",
                "$ref": "shelf",
                "$dynamicAnchor": "box",
                "maxProperties": 1,
                "$defs": {"shelf": _SHELF},
            },
            "2020-12",
        ),
        (
            {
                "$id": SITE + "me",
                "$ref": "crate",
                "$recursiveAnchor": True,
                "maxProperties": 1,
                "$defs": {"crate": _CRATE},
            },
            "2019-09",
        ),
        ({"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}}, "2020-12"),
        ({"items": {"$recursiveRef": "#"}}, "2019-09"),
    ],
)
def test_a_record_that_holds_its_resources_is_left_as_it_is(
    schema: UntypedJson, dialect: str
) -> None:
    """No identifier goes, and no reference becomes a pointer."""
    made = document(schema, dialect=dialect, base_uri=SITE + "file.json")
    kept = references.apply(made, CONTEXT)
    assert isinstance(kept, Document)
    assert kept.schema is schema
    assert not kept.changes


def test_a_recursive_anchor_that_is_false_leaves_the_reference_lexical() -> None:
    """`$recursiveRef` leads to the root of its own document then."""
    crate = {**_CRATE, "$recursiveAnchor": False}
    schema = {"$recursiveAnchor": True, "$ref": SITE + "crate", "maxProperties": 1}
    kept = record_of(schema, {SITE + "crate": crate}, "2019-09", SITE + "me")
    assert _both_accept(kept, _DEEP, "2019-09")
    kept = record_of(schema, {SITE + "crate": _CRATE}, "2019-09", SITE + "me")
    assert not _both_accept(kept, _DEEP, "2019-09")


def test_two_references_of_one_schema_both_stay() -> None:
    """A `$ref` beside a `$dynamicRef` is one more condition."""
    other = {
        "$defs": {
            "small": {"maximum": 9},
            "any": {"$dynamicAnchor": "kind", "type": "integer"},
        },
        "items": {"$ref": "#/$defs/small", "$dynamicRef": "#kind"},
    }
    kept = record_of({"$ref": SITE + "o"}, {SITE + "o": other}, "2020-12")
    assert _both_accept(kept, [5], "2020-12")
    assert not _both_accept(kept, [10], "2020-12")
    assert not _both_accept(kept, [0.5], "2020-12")


def test_relative_references_get_the_identifier_that_they_need() -> None:
    """A file without `$id` is named by its place, so that others lead back to it."""
    documents = {
        SITE + "d/tree": {
            "$dynamicAnchor": "n",
            "items": {"$dynamicRef": "#n"},
            "properties": {"leaf": {"$ref": "me#/$defs/leaf"}},
        }
    }
    schema = {
        "properties": {"t": {"$ref": "tree"}},
        "$defs": {"leaf": {"type": "null"}},
    }
    kept = record_of(schema, documents, "2020-12", SITE + "d/me")
    assert kept["$id"] == SITE + "d/me"
    assert kept["properties"] == schema["properties"]
    assert _both_accept(kept, {"t": {"leaf": None}}, "2020-12")
    assert not _both_accept(kept, {"t": {"leaf": 1}}, "2020-12")


def test_a_document_is_referred_to_by_the_name_that_it_gives_itself() -> None:
    """An address where it also stands is replaced: the bundle has one name for it."""
    documents = {SITE + "place.json": _SHELF}
    schema = {"items": {"$ref": SITE + "place.json"}}
    result = result_of(schema, documents, "2020-12")
    assert isinstance(result, Document)
    assert result.schema["items"] == {"$ref": SITE + "shelf"}
    assert [change.pointer for change in result.changes] == [
        "/items/$ref",
        "/$defs/place",
    ]
    assert _both_accept(result.schema, [{"inside": [{}]}], "2020-12")


def test_a_metaschema_of_ones_own_is_not_asked_for() -> None:
    """What comes in is read in the record's dialect, whatever it declares."""
    other = {"$schema": SITE + "own-words", **_SHELF, "$defs": {"a": True}}
    kept = record_of({"$ref": SITE + "shelf"}, {SITE + "shelf": other}, "2020-12")
    assert kept["$defs"]["shelf"] == {**_SHELF, "$defs": {"a": True}}
    assert _both_accept(kept, {"inside": [{}]}, "2020-12")


@pytest.mark.parametrize("dialect", ["2019-09", "2020-12"])
def test_a_metaschema_in_pieces_is_brought_in(dialect: str) -> None:
    """Its pieces come in as they are, and lead back to the whole."""
    uri = f"https://json-schema.org/draft/{dialect}/schema"
    kept = record_of({"properties": {"s": {"$ref": uri}}}, dialect=dialect)
    assert kept["properties"] == {"s": {"$ref": uri}}
    assert _both_accept(kept, {"s": {"type": "string"}}, dialect)
    assert not _both_accept(kept, {"s": {"type": "text"}}, dialect)
    deep = {"properties": {"a": {"allOf": [{"$defs": {"b": {"minLength": "x"}}}]}}}
    assert not _both_accept(kept, {"s": deep}, dialect)


def test_a_scope_in_which_a_reference_never_ends_ends_the_record() -> None:
    """The static target is harmless; the one that the scope chooses leads back."""
    inner = {
        "$id": "inner",
        "allOf": [{"$dynamicRef": "#n"}],
        "$defs": {"n": {"$dynamicAnchor": "n"}},
    }
    schema = {"$id": SITE + "me", "$ref": "inner", "$defs": {"inner": inner}}
    assert record_of(schema, dialect="2020-12") == schema
    endless = {**schema, "$dynamicAnchor": "n"}
    assert reason_of(endless, dialect="2020-12") is Reason.UNRESOLVED_REFERENCE


#: A dialect as OpenAPI states one: the words of 2020-12, and some of its own.
_DIALECT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": SITE + "dialect",
    "$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": True},
    "$dynamicAnchor": "meta",
    "allOf": [
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"$ref": SITE + "words"},
    ],
}
_WORDS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": SITE + "words",
    "$dynamicAnchor": "meta",
    "properties": {"unit": {"type": "string"}},
}


@pytest.mark.parametrize(
    ("schema", "nested"),
    [
        (REGISTRY["https://json-schema.org/draft/2019-09/schema"].contents, "minItems"),
        (REGISTRY["https://json-schema.org/draft/2020-12/schema"].contents, "minItems"),
        (_DIALECT, "unit"),
    ],
)
def test_a_metaschema_is_kept_with_witnesses(schema: UntypedJson, nested: str) -> None:
    """All its rules let it pass, and it judges schemas at every depth."""
    raw = raw_document(json.dumps(schema).encode())
    context = Context(library=Shelf({SITE + "words": _WORDS}))
    record = apply_rules(raw, rule_set("clean"), context).record
    assert record is not None
    assert make_instances(record.json_schema, record.dialect).witnesses
    deep: UntypedJson = {"properties": {"a": {"items": {"not": {nested: []}}}}}
    assert not _both_accept(json.loads(record.json_schema), deep, record.dialect)


_NAMES: Final = st.sampled_from(["x", "y"])
_FILES: Final = ("a.json", "b.json", "me.json")
_OTHERS: Final[list[UntypedJson]] = [{"$ref": file} for file in _FILES]
_DYNAMIC: Final[dict[str, list[UntypedJson]]] = {
    "2019-09": [{"$recursiveRef": "#"}],
    "2020-12": [
        {"$dynamicRef": reference}
        for reference in ("#name", "a.json#name", "#/$defs/x", "#")
    ],
}
_ANCHORS: Final[dict[str, list[UntypedJson]]] = {
    "2019-09": [
        {"$recursiveAnchor": recursive, "maxItems": most}
        for recursive in (True, True, False)
        for most in (1, 2)
    ],
    "2020-12": [
        {"$dynamicAnchor": "name", "type": ["array", "object", "null"]},
        {"$dynamicAnchor": "name"},
        {"$dynamicAnchor": "name", "type": "number"},
        {"$anchor": "name", "type": "string"},
    ],
}


def _schemas(dialect: str) -> st.SearchStrategy[UntypedJson]:
    references = [
        {"$ref": file + fragment}
        for file in ("", *_FILES)
        for fragment in ("#", "#/$defs/x", "#name")
    ]
    plain = [{"type": "string"}, {"type": "object"}, {"minimum": 2}, {}]
    return st.recursive(
        st.sampled_from([*plain, *references, *_DYNAMIC[dialect]]),
        lambda inner: st.one_of(
            st.builds(lambda each: {"items": each}, inner),
            st.builds(lambda each: {"$id": "sub/", "allOf": [each]}, inner),
            st.builds(
                lambda each, beside: {**beside, "properties": each},
                st.dictionaries(_NAMES, inner, max_size=2),
                st.sampled_from([{}, *_DYNAMIC[dialect]]),
            ),
        ),
        max_leaves=4,
    )


def _documents(dialect: str) -> st.SearchStrategy[UntypedJson]:
    in_root = dialect == "2019-09"
    return st.builds(
        lambda schema, keyword, dynamic, definitions, anchor: {
            **(anchor if in_root else {}),
            "allOf": [schema],
            keyword: dynamic,
            "$defs": definitions if in_root else {**definitions, "anchored": anchor},
        },
        st.one_of(_schemas(dialect), st.sampled_from(_OTHERS)),
        st.sampled_from(["items", "additionalProperties"]),
        st.sampled_from(_DYNAMIC[dialect]),
        st.dictionaries(_NAMES, _schemas(dialect), max_size=2),
        st.sampled_from(_ANCHORS[dialect]),
    )


_INSTANCES: Final = st.recursive(
    st.sampled_from([1, 2, "a", None]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(_NAMES, inner, max_size=2)
    ),
    max_leaves=4,
)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["2019-09", "2020-12"])
def test_a_bundle_means_what_its_documents_mean(dialect: str) -> None:
    """Both validators judge it as jsonschema judges the documents side by side."""
    documents = st.tuples(*[_documents(dialect)] * len(_FILES))

    @settings(suppress_health_check=list(HealthCheck))
    @given(documents, st.lists(_INSTANCES, min_size=4))
    def holds(drawn: tuple[UntypedJson, ...], instances: list[UntypedJson]) -> None:
        # Of two schemas with one URI, jsonschema takes whichever it has met last.
        assume(json.dumps(drawn).count('"$id": "sub/"') <= 1)
        by_uri = {
            SITE + name: {**schema, "$id": SITE + name}
            for name, schema in zip(_FILES, drawn, strict=True)
        }
        record = by_uri[SITE + "me.json"]
        result = result_of(record, by_uri, dialect)
        assume(isinstance(result, Document))
        assert isinstance(result, Document)
        for instance in instances:
            before = accepts(record, instance, dialect, by_uri)
            assert accepts(result.schema, instance, dialect) is before
            assert rust_accepts(result.schema, instance, dialect) is before
        again = references.apply(result, CONTEXT)
        assert isinstance(again, Document)
        assert again.schema == result.schema

    holds()
