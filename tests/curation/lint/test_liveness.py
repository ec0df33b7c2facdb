"""What of a schema can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curation.lint.lint import lints
from curation.lint.liveness import liveness
from curation.references.reachable import directly_applied
from curation.references.schema import Schema
from curation.schema.dialects import BY_NAME, DRAFT_07

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens


@pytest.mark.parametrize(
    ("schema", "keywords", "live", "fields"),
    [
        ({"type": "object", "properties": {"a": {"type": "null"}}}, 3, 3, 4),
        ({"type": "object", "properties": {"a": {}}}, 2, 1, 1),
        ({"type": "string", "items": {"minimum": 1}}, 3, 1, 1),
        ({"minLength": 0, "required": [], "uniqueItems": False}, 3, 0, 0),
        ({"anyOf": [{"minimum": 1}, {}]}, 2, 1, 0),
        ({"anyOf": [{"minimum": 1}, {"maximum": 0}]}, 3, 3, 1),
        ({"oneOf": [{}, {}]}, 1, 1, 1),
        ({"then": {"minimum": 1}}, 2, 0, 0),
        ({"items": {}, "additionalItems": {"minimum": 1}}, 3, 0, 0),
        ({"items": [{}], "additionalItems": {"minimum": 1}}, 3, 2, 2),
        ({"additionalItems": False}, 1, 0, 0),
        ({"if": {}, "then": {"minimum": 1}}, 3, 3, 3),
        ({"additionalProperties": False}, 1, 1, 1),
        ({"format": "date"}, 1, 1, 1),
        ({"format": "no-such-format"}, 1, 0, 0),
        ({"not": {}}, 1, 1, 1),
        ({"$ref": "#/definitions/a", "minimum": 1, "definitions": {"a": {}}}, 2, 0, 0),
        ({"$ref": "#/definitions/a", "definitions": {"a": {"enum": [1]}}}, 2, 2, 4),
        ({"definitions": {"a": {"enum": [1]}}}, 1, 0, 0),
        ({"properties": {"a": {"$ref": "#"}}}, 2, 0, 0),
        ({"minItems": 1, "properties": {"a": {"$ref": "#"}}}, 3, 3, 4),
        ({"$ref": "#/properties/a", "properties": {"a": {"enum": [1]}}}, 3, 2, 1),
        ({"if": {"minimum": 1}, "else": {}}, 3, 1, 0),
        ({"minContains": 1, "unevaluatedItems": False}, 2, 0, 0),
    ],
)
def test_keywords_that_some_value_can_violate(
    schema: UntypedJson, keywords: int, live: int, fields: int
) -> None:
    """What draft-07 does not know, reaches or asks anything by is dead."""
    found = liveness(schema, BY_NAME["draft-07"])
    assert (found.keywords, found.live, found.fields) == (keywords, live, fields)


@pytest.mark.parametrize(
    ("schema", "live"),
    [
        ({"minContains": 2}, 0),
        ({"maxContains": 2}, 0),
        ({"contains": True, "minContains": 2, "maxContains": 2}, 3),
    ],
)
def test_a_count_of_nothing_cannot_fail(schema: UntypedJson, live: int) -> None:
    """`minContains` and `maxContains` ask nothing without `contains`."""
    assert liveness(schema, BY_NAME["2019-09"]).live == live


@pytest.mark.parametrize(
    ("schema", "vacuous"),
    [
        ({"type": "object"}, True),
        ({"type": "object", "items": {"type": "string"}}, True),
        ({"type": ["object"], "properties": {"a": {"properties": {"b": {}}}}}, True),
        ({"properties": {"a": {}}}, True),
        ({"type": "object", "required": ["a"]}, False),
        ({"allOf": [{"type": "object"}]}, False),
        ({"$ref": "#/properties/a", "properties": {"a": {"enum": [1]}}}, False),
    ],
)
def test_a_root_of_which_only_the_type_can_fail(
    schema: UntypedJson,
    vacuous: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Nothing, or its own `type`: such a record is vacuous, whatever it holds."""
    assert liveness(schema, BY_NAME["draft-07"]).vacuous is vacuous


@pytest.mark.parametrize(
    ("schema", "code", "pointer"),
    [
        ({"type": "object", "items": {}}, "type-excludes-keyword", "/items"),
        ({"type": "integer", "required": ["a"]}, "type-excludes-keyword", "/required"),
        ({"items": {"#ref": "#"}}, "stray-mark", "/items/#ref"),
        ({"$allOf": [], "type": "null"}, "stray-mark", "/$allOf"),
        ({"$type": "string"}, "stray-mark", "/$type"),
        (
            {"type": "object", "required": ["a"], "a": {"type": "string"}},
            "content-outside-properties",
            "/a",
        ),
    ],
)
def test_what_says_nothing_is_flagged(
    schema: UntypedJson, code: str, pointer: str
) -> None:
    """Each at the member that does nothing."""
    found = lints(schema, BY_NAME["draft-07"])
    assert (code, pointer) in {(lint.code, lint.pointer) for lint in found}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 1},
        {"type": ["object", "array"], "items": {}, "required": ["a"]},
        {"type": "object", "properties": {"#ref": {}, "$type": {}}},
        {"type": "object", "properties": {"a": {}}, "a": {"type": "string"}},
        {"type": "object", "x-example": {"title": "t"}},
    ],
)
def test_what_says_something_is_not(schema: UntypedJson) -> None:
    """Names of properties, types that let some values through, and notes are fine."""
    assert lints(schema, BY_NAME["draft-07"]) == []


REFERENCES = ("#", "#/definitions/a", "#/definitions/b", "#/properties/a", "#/none")
LEAVES = st.sampled_from(
    [{}, {"type": "object"}, {"type": "string"}, {"minLength": 0}, {"minimum": 1}]
)
SCHEMAS = st.recursive(
    st.booleans()
    | LEAVES
    | st.builds(lambda to: {"$ref": to}, st.sampled_from(REFERENCES)),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", ["object", "null"]]),
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "items": inner,
        },
    ),
    max_leaves=6,
)
ROOTS = st.builds(
    lambda root, a, b: {
        **(root if isinstance(root, dict) else {"not": root}),
        "definitions": {"a": a, "b": b},
    },
    SCHEMAS,
    SCHEMAS,
    SCHEMAS,
)
ABOUT = {"properties": "object", "items": "array", "minimum": "number"}
ABOUT |= {"minLength": "string"}


def _live_plainly(schema: UntypedJson) -> int:
    """Count live keywords by asking every schema again until nothing more is live."""
    document = Schema(schema, DRAFT_07, "")
    live: dict[Tokens, set[str]] = {(): set()}
    failing: set[Tokens] = set()
    entered = [document.root]
    for _ in range(20):
        for location in entered:
            applied: list[tuple[str, Tokens]] = []
            for name, other in directly_applied(location, document):
                if _speaks(name, location.keywords):
                    applied.append((name, other.tokens))
                    if other.tokens not in live:
                        live[other.tokens] = set()
                        entered.append(other)
            own = live[location.tokens]
            own |= _fail(location.keywords, applied, failing)
            if own or location.schema is False:
                failing.add(location.tokens)
    return sum(map(len, live.values()))


def _speaks(name: str, schema: Mapping[str, UntypedJson]) -> bool:
    """Return whether the type beside a keyword lets values through that it is about."""
    stated = schema.get("type", ABOUT.get(name))
    fits = name not in ABOUT or ABOUT[name] in stated
    return fits and (name != "then" or "if" in schema)


def _fail(
    schema: Mapping[str, UntypedJson],
    applied: list[tuple[str, Tokens]],
    failing: set[Tokens],
) -> set[str]:
    """Return the keywords that can fail, where these schemas do."""
    if "$ref" in schema:
        return {"$ref"} if any(to in failing for _, to in applied) else set()
    found = {name for name, to in applied if name != "if" and to in failing}
    if "anyOf" in found and any(n == "anyOf" and t not in failing for n, t in applied):
        found.discard("anyOf")
    found |= {"if"} & schema.keys() if "then" in found else set()
    found |= {"oneOf"} if len(schema.get("oneOf", ())) > 1 else set()
    found |= {"type", "not", "minimum"} & schema.keys()
    return {name for name in found if _speaks(name, schema)}


@given(schema=ROOTS)
@example(schema={"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/a"}]})
def test_what_is_live_is_the_least_that_the_keywords_mean(schema: UntypedJson) -> None:
    """Whatever refers to whatever, and in whichever order it is met."""
    assert liveness(schema, DRAFT_07).live == _live_plainly(schema)
