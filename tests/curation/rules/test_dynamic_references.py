"""References that look at their scope: the documents come in as they are."""

from __future__ import annotations

import json
from typing import Final

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema_specifications import REGISTRY

from curation.core.documents import Document
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
    make_result,
    raw_document,
)


def _both_accept(record: UntypedJson, instance: UntypedJson, dialect: str) -> bool:
    """Return the verdict that jsonschema and jsonschema-rs share."""
    verdict = accepts(record, instance, dialect)
    assert rust_accepts(record, instance, dialect) is verdict
    return verdict


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
        result = make_result(record, by_uri, dialect)
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
