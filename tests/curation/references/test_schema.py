"""Where references lead, what they reach, and which schemas recurse."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Reason
from curation.references.closure import MAX_KEPT, NO_LIBRARY, PackLibrary
from curation.references.gathering import gathered
from curation.references.reachable import (
    ALL_TYPES,
    accepted_types,
    applied,
    is_recursive,
    taking_part,
)
from curation.references.schema import (
    Schema,
    descend,
    follow_reference,
    legal,
)
from curation.references.verdicts import disputed
from curation.schema.dialects import (
    ANY_DIALECT,
    BY_NAME,
    DRAFT_04,
    DRAFT_07,
    DRAFT_2019_09,
    DRAFT_2020_12,
    Dialect,
)
from curation.schema.subschemas import join
from tests.curation.rules.documents_made import reason_of, record_of

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson


def _found(schema: UntypedJson, dialect: str, uri: str, fragment: str) -> UntypedJson:
    document = Schema(schema, BY_NAME[dialect])
    location = document.find(uri, fragment)
    return None if location is None else location.tokens


@pytest.mark.parametrize(
    ("fragment", "tokens"),
    [
        ("", ()),
        ("/definitions/a", ("definitions", "a")),
        ("/definitions/a%20b", ("definitions", "a b")),
        ("/definitions/a b", ("definitions", "a b")),
        ("/definitions/x~1y", ("definitions", "x/y")),
        ("/definitions/x~0y", ("definitions", "x~y")),
        ("/definitions/x~01y", ("definitions", "x~1y")),
        ("/definitions/50%25", ("definitions", "50%")),
        ("/definitions/caf%C3%A9", ("definitions", "caf\u00e9")),
        ("/definitions/", ("definitions", "")),
        ("/definitions/list/items/1", ("definitions", "list", "items", "1")),
    ],
)
def test_a_pointer_is_decoded_as_the_two_standards_say(
    fragment: str, tokens: tuple[str, ...]
) -> None:
    """Percent signs are decoded first, then `~1` and `~0`."""
    names = ("a", "a b", "x/y", "x~y", "x~1y", "50%", "caf\u00e9", "")
    schema: UntypedJson = {"definitions": {name: {} for name in names}}
    schema["definitions"]["list"] = {"items": [{}, {}]}
    assert _found(schema, "draft-07", "", fragment) == tokens


@pytest.mark.parametrize(
    "fragment", ["/nowhere", "/definitions/b", "/allOf/2", "/allOf/-1", "/type/x", "a"]
)
def test_a_fragment_that_leads_nowhere_is_an_error(fragment: str) -> None:
    """A resource that is there, with nothing under the fragment, is no answer."""
    schema: UntypedJson = {"type": "object", "allOf": [{}], "definitions": {"a": {}}}
    with pytest.raises(LookupError):
        _found(schema, "draft-07", "", fragment)


def test_the_resource_of_another_uri_is_not_in_here() -> None:
    """A document does not answer for documents that it does not hold."""
    assert (
        _found({"$id": "http://a.example/x"}, "draft-07", "http://b.example", "")
        is None
    )


@pytest.mark.parametrize(
    ("dialect", "schema"),
    [
        ("draft-04", {"definitions": {"a": {"id": "#name"}}}),
        ("draft-06", {"definitions": {"a": {"$id": "#name"}}}),
        ("draft-07", {"definitions": {"a": {"$id": "#name"}}}),
        ("2019-09", {"definitions": {"a": {"$anchor": "name"}}}),
        ("2020-12", {"definitions": {"a": {"$anchor": "name"}}}),
        ("2020-12", {"definitions": {"a": {"$dynamicAnchor": "name"}}}),
    ],
)
def test_a_plain_name_is_given_as_each_draft_does(
    dialect: str, schema: UntypedJson
) -> None:
    """Draft-04 names in `id`, draft-06 and draft-07 in `$id`, later in `$anchor`."""
    assert _found(schema, dialect, "", "name") == ("definitions", "a")


def test_an_identifier_changes_the_base_of_what_is_inside() -> None:
    """A reference inside an embedded resource starts from that resource."""
    schema = {
        "$id": "http://a.example/root.json",
        "properties": {"p": {"$id": "sub/inner.json", "items": {"$ref": "#/x"}}},
    }
    found = Schema(schema, DRAFT_07)
    assert [each.base for each in found.references] == [
        "http://a.example/sub/inner.json"
    ]
    assert found.inner_resources == [("properties", "p")]


def test_a_reference_hides_the_identifier_beside_it_up_to_draft_07() -> None:
    """Draft-07 ignores `$id` beside `$ref`; 2020-12 heeds it."""
    schema = {"properties": {"p": {"$id": "http://b.example/", "$ref": "#/x"}}}
    old = Schema(schema, DRAFT_07, "http://a.example/")
    new = Schema(schema, DRAFT_2020_12, "http://a.example/")
    assert [old.references[0].base, new.references[0].base] == [
        "http://a.example/",
        "http://b.example/",
    ]


def test_a_property_called_ref_is_no_reference() -> None:
    """`$ref` and `id` under `properties`, `enum` or `default` are names and data."""
    schema = {
        "properties": {"$ref": {"type": "string"}, "id": {"type": "string"}},
        "enum": [{"$ref": "#/nowhere", "id": "http://b.example/"}],
        "default": {"$ref": "#/nowhere"},
    }
    found = Schema(schema, DRAFT_04)
    assert found.references == []
    assert found.resources == {}


def test_a_pointer_into_an_unknown_word_reaches_what_is_no_subschema() -> None:
    """The value is found, and is known not to stand in keyword position."""
    document = Schema({"types": {"a": {"type": "string"}}}, DRAFT_07)
    location = descend(document.root, ("types", "a"), DRAFT_07)
    assert location.schema == {"type": "string"}
    assert not location.is_subschema


def test_a_fragment_joins_any_base() -> None:
    """A URN has no path that a reference could be relative to, but has fragments."""
    assert join("urn:made:x", "#/a") == ("urn:made:x", "/a")
    assert join("http://a.example/b/c", "../d#e") == ("http://a.example/d", "e")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#/definitions/a b", "#/definitions/a%20b"),
        ("#/definitions/List<String>", "#/definitions/List%3CString%3E"),
        ("#/definitions/50%", "#/definitions/50%25"),
        ("#/definitions/a%20b", "#/definitions/a%20b"),
        ("#/definitions/x~1y", "#/definitions/x~1y"),
        ("#/definitions/caf\u00e9", "#/definitions/caf%C3%A9"),
    ],
)
def test_what_no_uri_may_hold_is_escaped_once(before: str, after: str) -> None:
    """Escaping is idempotent and leads to the same place."""
    assert legal(before) == after
    assert legal(after) == after


def test_a_reference_is_followed_into_a_document_that_is_loaded() -> None:
    """What the given documents do not hold is asked for by its absolute URI."""
    record = Schema({"$ref": "b.json#/a"}, DRAFT_07, "http://a.example/a.json")
    other = Schema({"a": True}, DRAFT_07, "http://a.example/b.json")
    asked: list[str] = []

    def load(uri: str) -> Schema:
        asked.append(uri)
        return other

    found = follow_reference("b.json#/a", record.base, [record], load)
    assert found is not None
    assert found[0] is other
    assert found[1].schema is True
    assert found[1].document == other.uri
    assert asked == [other.uri]
    assert follow_reference("#", record.base, [record], load) == (record, record.root)
    assert follow_reference("b.json", record.base, [record]) is None


def test_a_reference_that_leads_nowhere_is_an_error() -> None:
    """A document that is known and lacks the target is no unknown document."""
    record = Schema({}, DRAFT_07)
    with pytest.raises(LookupError):
        follow_reference("#/definitions/a", "", [record])


_MARKS: list[tuple[str, UntypedJson, UntypedJson]] = [
    ("2020-12", {"$dynamicAnchor": "n"}, {"$dynamicRef": "#n"}),
    ("2019-09", {"$recursiveAnchor": True}, {"$recursiveRef": "#"}),
]


@pytest.mark.parametrize(("dialect", "mark", "reference"), _MARKS)
def test_a_dynamic_reference_leads_to_the_root_that_bears_its_anchor(
    dialect: str, mark: UntypedJson, reference: UntypedJson
) -> None:
    """Every evaluation has entered the root; without the mark it stays inside."""
    inner = {"$id": "inner", **mark, "items": reference}
    for root, target in ((mark, ()), ({}, ("$defs", "a"))):
        value = {"$id": "https://made.example/", **root, "$defs": {"a": inner}}
        schema = Schema(value, BY_NAME[dialect])
        holder = schema.location_at(("$defs", "a", "items"))
        (keyword,) = reference
        location = schema.target(holder, keyword)
        assert location is not None
        assert location is schema.location_at(target)


@pytest.mark.parametrize(("dialect", "mark", "reference"), _MARKS)
def test_every_schema_that_a_scope_may_choose_is_applied(
    dialect: str, mark: UntypedJson, reference: UntypedJson
) -> None:
    """A definition takes part if a dynamic reference may lead to it."""
    value = {
        "$id": "https://made.example/",
        "properties": {"p": {"$ref": "one"}},
        "$defs": {
            "one": {"$id": "one", **mark, "items": reference},
            "two": {"$id": "two", **mark, "type": "array"},
            "three": {"$id": "three", "type": "array"},
        },
    }
    entered = applied(Schema(value, BY_NAME[dialect]))
    assert {tokens[1] for tokens in entered if tokens[:1] == ("$defs",)} == {
        "one",
        "two",
    }


@dataclass(slots=True)
class Counted:
    """Files that count how often each is read."""

    contents: dict[str, bytes]
    read_paths: list[str] = field(default_factory=list)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths, sorted."""
        return tuple(sorted(self.contents))

    def read(self, path: str) -> bytes:
        """Return one file's bytes."""
        self.read_paths.append(path)
        return self.contents[path]


def test_a_document_is_read_when_asked_for_and_once() -> None:
    """Nothing is read before, and the parsed document is kept at hand."""
    files = Counted({"a.json": b'{"type": "null"}'})
    library = PackLibrary(files, {"https://made.example/a": "a.json"})
    assert files.read_paths == []
    first = library.get("https://made.example/a")
    assert first == {"type": "null"}
    assert library.get("https://made.example/a") is first
    assert files.read_paths == ["a.json"]


def test_http_and_https_are_one_document() -> None:
    """Either scheme finds what is known under the other."""
    files = Counted({"a.json": b"{}", "b.json": b"[]"})
    uris = {"https://made.example/a": "a.json", "http://made.example/b": "b.json"}
    library = PackLibrary(files, uris)
    assert library.get("http://made.example/a") == {}
    assert library.get("https://made.example/b") == []


def test_what_cannot_be_read_is_not_there() -> None:
    """Unknown URIs, missing files and broken texts are all None."""
    files = Counted({"broken.json": b"{", "twice.json": b'{"a": 1, "a": 2}'})
    names = ("broken", "twice", "missing")
    uris = {f"https://made.example/{name}": f"{name}.json" for name in names}
    library = PackLibrary(files, uris)
    for name in (*names, "unknown"):
        assert library.get(f"https://made.example/{name}") is None
    assert library.get("urn:made:x") is None
    assert NO_LIBRARY.get("https://made.example/a") is None


def test_only_a_few_documents_are_kept_at_hand() -> None:
    """A source of any size does not fill the memory."""
    count = MAX_KEPT + 10
    files = Counted({f"{n}.json": b"{}" for n in range(count)})
    library = PackLibrary(files, {f"https://x/{n}": f"{n}.json" for n in range(count)})
    for number in range(count):
        library.get(f"https://x/{number}")
    library.get(f"https://x/{count - 1}")
    library.get("https://x/0")
    assert len(files.read_paths) == count + 1


def test_what_references_lead_to_moves_with_what_it_leads_to() -> None:
    """One name each, none of them taken; what was there besides stays."""
    types: dict[str, Json] = {
        "a": {"anyOf": [{"$ref": "#/types/b"}, {"$ref": "#/types/a"}]},
        "b": {"maximum": 2},
    }
    schema: Json = {
        "items": {"$ref": "#/types/a"},
        "not": {"$ref": "#/default"},
        "types": types,
        "default": {"minimum": 1},
        "definitions": {"a": {}},
    }
    assert gathered(schema, DRAFT_04) == {
        "items": {"$ref": "#/definitions/a-2"},
        "not": {"$ref": "#/definitions/default"},
        "default": {"minimum": 1},
        "definitions": {
            "a": {},
            "a-2": {
                "anyOf": [{"$ref": "#/definitions/b"}, {"$ref": "#/definitions/a-2"}]
            },
            "b": {"maximum": 2},
            "default": {"minimum": 1},
        },
    }


def test_what_an_identifier_surrounds_stays() -> None:
    """There `#/a` is another place; and a schema without any is the same object."""
    inner: Json = {"$id": "https://example.com/i", "$ref": "#/a", "a": {"type": "null"}}
    schemas: list[Json] = [{"items": inner}, {"$ref": "#/$defs/a", "$defs": {"a": {}}}]
    for schema in schemas:
        assert gathered(schema, DRAFT_2020_12) is schema


def test_a_long_chain_is_followed_once() -> None:
    """Two thousand definitions, each leading to the next."""
    links: dict[str, Json] = {f"n{i}": {"$ref": f"#/x/n{i + 1}"} for i in range(2_000)}
    schema: Json = {"items": {"$ref": "#/x/n0"}, "x": {**links, "n2000": {}}}
    found = gathered(schema, DRAFT_2020_12)
    assert isinstance(found, dict)
    assert isinstance(found["$defs"], dict)
    assert list(found) == ["items", "$defs"]
    assert len(found["$defs"]) == 2_001


def accepted(schema: UntypedJson, dialect: Dialect = DRAFT_2020_12) -> frozenset[str]:
    """Return the types that the root of a schema accepts whole."""
    document = Schema(schema, dialect, "")
    return accepted_types(document)


@pytest.mark.parametrize(
    ("schema", "refused"),
    [
        (True, set()),
        (False, ALL_TYPES),
        ({}, set()),
        ({"title": "t", "$defs": {"a": False}, "unknown": False}, set()),
        ({"minLength": 1, "required": ["a"]}, {"string", "object"}),
        ({"type": ["number", "null"]}, ALL_TYPES - {"number", "null"}),
        ({"type": "integer"}, ALL_TYPES),
        ({"enum": [None]}, ALL_TYPES),
        ({"not": {}}, ALL_TYPES),
        ({"allOf": [{"minItems": 1}, {"minimum": 1}]}, {"array", "number"}),
        ({"anyOf": [{"minItems": 1}, {"minimum": 1}]}, set()),
        ({"oneOf": [{"minItems": 1}]}, {"array"}),
        ({"oneOf": [{"minItems": 1}, {"minimum": 1}]}, ALL_TYPES),
        (
            {"if": False, "then": {"minItems": 1}, "else": {"minimum": 1}},
            {"array", "number"},
        ),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"pattern": "x"}}}, {"string"}),
        ({"$ref": "#/$defs/a", "minItems": 1, "$defs": {"a": True}}, {"array"}),
        ({"$ref": "#"}, ALL_TYPES),
        ({"$ref": "#/nowhere"}, ALL_TYPES),
        ({"$ref": "http://x.test/"}, ALL_TYPES),
        ({"$dynamicRef": "#"}, ALL_TYPES),
    ],
)
def test_what_a_keyword_does_not_speak_of_is_accepted(
    schema: UntypedJson, refused: set[str]
) -> None:
    """Every type but those of which some keyword may refuse a value."""
    assert accepted(schema) == ALL_TYPES - refused


def test_the_dialect_decides_what_is_a_keyword() -> None:
    """Beside a `$ref` up to draft-07 nothing is, and `if` is none in draft-04."""
    schema = {"$ref": "#/definitions/a", "minItems": 1, "definitions": {"a": {}}}
    assert accepted(schema, DRAFT_07) == ALL_TYPES
    assert accepted({"if": {}, "then": False}, DRAFT_04) == ALL_TYPES


def test_a_reference_starts_from_the_resource_that_holds_it() -> None:
    """Identifiers are minded, as wherever references are followed."""
    schema = {
        "$id": "http://x.test/a",
        "allOf": [{"$id": "b", "$ref": "#/$defs/c", "$defs": {"c": {"minItems": 1}}}],
    }
    assert accepted(schema) == ALL_TYPES - {"array"}


def test_a_reference_that_leads_nowhere_hides_no_other() -> None:
    """What stands behind the others, where no keyword leads, takes part."""
    schema: UntypedJson = {
        "properties": {
            "a": {"$ref": "#/types/x"},
            "b": {"$ref": "https://x.test/other.json"},
        },
        "types": {"x": {"items": {"$ref": "#/types/y"}}, "y": {}, "z": {}},
    }
    places = {each.tokens for each in taking_part(schema, DRAFT_07)}
    types = {("types", "x"), ("types", "x", "items"), ("types", "y")}
    assert places == {(), ("properties", "a"), ("properties", "b")} | types


_SCHEMAS = st.recursive(
    st.booleans()
    | st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from([*sorted(ALL_TYPES), ["null", "string"]]),
            "minimum": st.just(5),
            "maxLength": st.just(1),
            "required": st.just(["a"]),
            "maxItems": st.just(0),
            "const": st.none(),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
        },
    ),
    max_leaves=6,
)
_VALUES: dict[str, list[UntypedJson]] = {
    "array": [[], [1]],
    "boolean": [True, False],
    "null": [None],
    "number": [0, 7.5],
    "object": [{}, {"a": 1}],
    "string": ["", "text"],
}


@given(_SCHEMAS)
def test_what_is_said_to_be_accepted_is(schema: UntypedJson) -> None:
    """jsonschema-rs accepts values of every type that is named."""
    validator = jsonschema_rs.Draft202012Validator(schema)
    for name in accepted(schema):
        assert all(map(validator.is_valid, _VALUES[name])), name


_TO_NAME: dict[str, UntypedJson] = {"not": {"$dynamicRef": "#node"}}
_HERE: dict[str, UntypedJson] = {"not": {"$ref": "http://x.test/a"}}
#: Schemas that recurse: to the root, to an ancestor, in a ring, by pointer, anchor or
#: identifier, which is joined to the base URI around it.
_RECURSIVE: list[tuple[Dialect, UntypedJson]] = [
    (DRAFT_07, {"$ref": "#"}),
    (DRAFT_07, {"properties": {"a": {"items": {"$ref": "#"}}}}),
    (DRAFT_07, {"definitions": {"a": {"items": {"$ref": "#/definitions/a"}}}}),
    (
        DRAFT_07,
        {
            "definitions": {
                "a": {"items": {"$ref": "#/definitions/b"}},
                "b": {"not": {"$ref": "#/definitions/a"}},
            }
        },
    ),
    (DRAFT_07, {"definitions": {"a b": {"not": {"$ref": "#/definitions/a%20b"}}}}),
    (DRAFT_07, {"$id": "https://x.test/a", "not": {"$ref": "https://x.test/a#"}}),
    (DRAFT_07, {"definitions": {"x": {"$id": "#n", "not": {"$ref": "#n"}}}}),
    # To the root of the embedded resource, and from one resource to another.
    (
        DRAFT_07,
        {
            "$id": "http://x.test/",
            "items": {"$id": "inner", "properties": {"a": {"$ref": "#"}}},
        },
    ),
    (
        DRAFT_07,
        {
            "$id": "http://x.test/tree",
            "items": {"$ref": "node"},
            "definitions": {"node": {"$id": "node", "items": {"$ref": "tree"}}},
        },
    ),
    (DRAFT_2019_09, {"not": {"$recursiveRef": "#"}}),
    (DRAFT_2020_12, {"$dynamicAnchor": "node", **_TO_NAME}),
    # A schema of no known dialect names itself in any way.
    (ANY_DIALECT, {"id": "http://x.test/a#", **_HERE}),
    (ANY_DIALECT, {"$id": "http://x.test/a#", **_HERE}),
    (ANY_DIALECT, {"$dynamicAnchor": "node", **_TO_NAME}),
]


@pytest.mark.parametrize(("dialect", "schema"), _RECURSIVE)
def test_a_reference_above_itself_is_recursion(
    dialect: Dialect, schema: UntypedJson
) -> None:
    """By whichever keyword refers."""
    assert is_recursive(schema, dialect)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/definitions/a"}}, "definitions": {"a": {}}},
        {
            "properties": {"a": {"$ref": "#/definitions/a"}},
            "definitions": {"a": {"$ref": "#/definitions/b"}, "b": {}},
        },
        {"$ref": "https://x.test/other"},
        {"$ref": "#nowhere"},
        {"enum": [{"$ref": "#"}]},
        {"properties": {"a": {"$ref": "#/properties/ab"}, "ab": {}}},
        {"definitions": {"a": {"$id": "inner", "not": {"$ref": "#/definitions/a"}}}},
        True,
    ],
)
def test_other_references_are_none(schema: UntypedJson) -> None:
    """Chains that end, other documents, and data that looks like a reference."""
    assert not is_recursive(schema, DRAFT_07)


def test_long_chains_of_references_are_followed_without_recursion() -> None:
    """A ring of 3,000 definitions is found, and an open chain is none."""
    chain: dict[str, UntypedJson] = {
        f"d{number}": {"not": {"$ref": f"#/definitions/d{number + 1}"}}
        for number in range(3_000)
    }
    assert not is_recursive({"definitions": chain}, DRAFT_07)
    chain["d3000"] = {"$ref": "#/definitions/d0"}
    assert is_recursive({"definitions": chain}, DRAFT_07)


def test_the_resources_around_a_reference_are_looked_up() -> None:
    """From the outer to the inner, which the identifier of each is joined to."""
    inner: UntypedJson = {
        "$id": "inner/",
        "properties": {name: {"$ref": "leaf"} for name in "abc"},
        "definitions": {"leaf": {"$id": "leaf", "type": "string"}},
    }
    outer: UntypedJson = {"$id": "outer/", "items": inner}
    schema: UntypedJson = {"$id": "http://x.test/", "properties": {"o": outer}}
    document = Schema(schema, DRAFT_07)
    assert len(document.inner_resources) == 3
    assert disputed(document) is None


def test_what_no_if_applies_leads_nowhere_back() -> None:
    """`then` without `if` says nothing (2020-12, 10.2.2.2)."""
    assert reason_of({"if": {}, "then": {"$ref": "#"}}) is Reason.UNRESOLVED_REFERENCE
    assert record_of({"then": {"$ref": "#"}, "else": {"$ref": "#"}})
