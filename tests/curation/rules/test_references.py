"""References in rule set `clean`: in one document, and to others brought in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from curation.core.documents import Document, Reason, Rejected
from curation.core.rule import Context
from curation.rules.clean import references
from tests.curation.judges import accepts, rust_accepts
from tests.curation.rules.documents_made import (
    CONTEXT,
    SITE,
    document,
    make_result,
)

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def test_a_chain_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that always refers to one more document is too large."""

    class Endless:
        def get(self, uri: str) -> UntypedJson:
            return {"items": {"$ref": uri + "x"}}

    monkeypatch.setattr("curation.references.closure.MAX_REACHED", 50)
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
    result = make_result(me, documents)
    assume(isinstance(result, Document))
    assert isinstance(result, Document)
    for instance in instances:
        before = accepts(me, instance, "draft-07", documents)
        assert accepts(result.schema, instance, "draft-07") is before
        assert rust_accepts(result.schema, instance, "draft-07") is before
    again = references.apply(result, CONTEXT)
    assert isinstance(again, Document)
    assert again.schema == result.schema
