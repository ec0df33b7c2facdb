"""Lint codes: each defect, credentials included, flagged where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.documents import Reason, Rejected
from curation.json.credentials import find_credential
from curation.lint.lint import CODES, lints, nearest
from curation.rules import clean
from curation.rules.clean import flag_lints
from curation.schema.dialects import BY_NAME
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.system.credentials import tables
from tests.curation.credential_examples import LETTERS, MIXED, examples
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson


_CLOSED: Final = {"additionalProperties": False}


def _found(schema: UntypedJson, dialect: str = "draft-07") -> set[tuple[str, str]]:
    """Return codes and places, the root's own left out."""
    return {
        (each.code, each.pointer)
        for each in lints(schema, BY_NAME[dialect])
        if each.code != "non-object-root"
    }


#: By dialect, schemas with a defect: its code, and the place of it.
_DEFECTS: Final[dict[str, list[tuple[UntypedJson, str, str]]]] = {
    "draft-04": [
        ({"const": 1}, "newer-keyword", "/const"),
        ({"if": {}, "then": {}}, "newer-keyword", "/if"),
        ({"divisibleBy": 2}, "older-keyword", "/divisibleBy"),
        ({"type": "integer", "enum": [1.0]}, "enum-type-conflict", "/enum"),
    ],
    "draft-07": [
        ({"unevaluatedItems": False}, "newer-keyword", "/unevaluatedItems"),
        ({"$anchor": "a"}, "newer-keyword", "/$anchor"),
        ({"$ref": "#/definitions/a", "minLength": 1}, "ref-siblings", "/minLength"),
        ({"then": {}}, "lonely-keyword", "/then"),
        ({"items": {}, "additionalItems": False}, "lonely-keyword", "/additionalItems"),
        ({"propertes": {"a": {}}}, "misspelt-keyword", "/propertes"),
        ({"minLenght": 1}, "misspelt-keyword", "/minLenght"),
        ({"oneof": [{}]}, "misspelt-keyword", "/oneof"),
        ({"require": ["a"]}, "misspelt-keyword", "/require"),
        ({"dependancies": {"a": ["b"]}}, "misspelt-keyword", "/dependancies"),
        ({"type": "object", "items": {}}, "type-excludes-keyword", "/items"),
        ({"type": "integer", "required": []}, "type-excludes-keyword", "/required"),
        ({"items": {"#ref": "#"}}, "stray-mark", "/items/#ref"),
        ({"$allOf": [], "type": "null"}, "stray-mark", "/$allOf"),
        ({"$type": "string"}, "stray-mark", "/$type"),
        ({"type": "string", "enum": [1, None]}, "enum-type-conflict", "/enum"),
        ({"type": "integer", "const": 1.5}, "enum-type-conflict", "/const"),
        ({"required": ["a"], **_CLOSED}, "required-forbidden", "/required/0"),
        (
            {"required": ["a"], "properties": {"a": False}},
            "required-forbidden",
            "/required/0",
        ),
        ({"minimum": 2, "maximum": 1}, "crossed-bounds", "/minimum"),
        (
            {"exclusiveMinimum": 1, "maximum": 1},
            "crossed-bounds",
            "/exclusiveMinimum",
        ),
        ({"minItems": 2, "maxItems": 1}, "crossed-bounds", "/minItems"),
        ({"format": "int32"}, "unknown-format", "/format"),
        ({"type": "integer", "format": "date"}, "format-without-string", "/format"),
        ({"pattern": "^(a+)+$"}, "redos-pattern", "/pattern"),
        (
            {"patternProperties": {"(a*)*": {}}},
            "redos-pattern",
            "/patternProperties/(a*)*",
        ),
        *(
            ({"properties": {name: {}}}, "hostile-name", f"/properties/{name}")
            for name in ("__proto__", "a\u202eb")
        ),
    ],
    "2020-12": [
        ({"dependencies": {"a": ["b"]}}, "older-keyword", "/dependencies"),
        ({"id": "a"}, "older-keyword", "/id"),
        ({"minContains": 2}, "lonely-keyword", "/minContains"),
        # Arrays of names; a number would fit nothing.
        ({"dependentRequird": {"a": []}}, "misspelt-keyword", "/dependentRequird"),
    ],
}


@pytest.mark.parametrize("dialect", _DEFECTS)
def test_each_defect_is_flagged_where_it_stands(dialect: str) -> None:
    """At the root and below, with a pointer to the keyword itself."""
    for schema, code, pointer in _DEFECTS[dialect]:
        assert (code, pointer) in _found(schema, dialect)
        below = {"properties": {"p": {"items": schema}}}
        assert (code, f"/properties/p/items{pointer}") in _found(below, dialect)


#: By dialect, schemas without a defect.
_SOUND: Final[dict[str, list[UntypedJson]]] = {
    "draft-04": [{"minimum": 1, "maximum": 1, "exclusiveMinimum": True}],
    "draft-07": [
        {"properties": {"const": {}, "id": {}, "dependencies": {}}},
        {"$ref": "#/definitions/a", "title": "t", "definitions": {}},
        {"if": {}, "then": {}},
        {"items": [{}], "additionalItems": False},
        {"item": "text", "requires": "text", "x-pattern": "a"},
        {"properties": {"a": {}}, "property": {"a": 1}},
        {"minLength": 1, "minLenght": 2, "ref": 1},
        {"type": ["string", "null"], "enum": [1, None]},
        {"type": "integer", "enum": [1.0]},
        {"type": "number", "enum": [1]},
        {"required": ["a"], **_CLOSED, "patternProperties": {"^a": {}}},
        {"required": ["a"], **_CLOSED, "patternProperties": {"(?=b)": {}}},
        {"minimum": 1, "maximum": 1},
        {"format": "date-time", "type": ["string", "null"]},
        {"format": {"type": "string"}},
        {"pattern": "^([a-z]+,)*$"},
        {"enum": [{"const": 1, "_format": "x", "propertes": {}}]},
        {"default": {"$ref": "#", "minLength": 1}},
        # RE2 knows fewer blanks than ECMA-262, by which it may match.
        {"required": ["\u00a0"], **_CLOSED, "patternProperties": {r"^\s$": {}}},
        {"type": "integer", "minimum": 1},
        {"type": ["object", "array"], "items": {}, "required": ["a"]},
        {"type": "object", "properties": {"#ref": {}, "$type": {}}},
        {"type": "object", "properties": {"a": {}}, "a": {"type": "string"}},
        {"type": "object", "x-example": {"title": "t"}},
    ],
    "2020-12": [
        {"properties": {"a": {"$defs": {}}}, "definitions": {}},
        {"id": {"type": "string"}},
        {"dependentRequird": 3},
        {"$ref": "#/$defs/a", "minLength": 1, "$defs": {"a": {}}},
    ],
}


@pytest.mark.parametrize("dialect", _SOUND)
def test_what_is_no_defect_is_not_flagged(dialect: str) -> None:
    """Names of properties, data, companions that are there, bounds that meet."""
    for schema in _SOUND[dialect]:
        assert _found(schema, dialect) == set()


@pytest.mark.parametrize(
    ("schema", "flagged"),
    [
        ({"properties": {"a": {}}, "required": ["a"]}, True),
        ({"$ref": "#/definitions/a", "definitions": {"a": {"minProperties": 1}}}, True),
        ({"allOf": [{"required": ["a"]}, {"properties": {}}]}, True),
        ({"anyOf": [{"type": "string"}, {"required": ["a"]}]}, True),
        ({"if": {"type": "object"}, "then": {"required": ["a"]}}, True),
        ({"type": "object", "properties": {}}, False),
        ({"properties": {}, "enum": [1]}, False),
        ({"properties": {}, "minLength": 1}, False),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, False),
        ({"not": {"required": ["a"]}}, False),
        ({"$ref": "#/definitions/a", "definitions": {"a": {"type": "object"}}}, False),
        ({"$ref": "#"}, False),
    ],
)
def test_a_root_that_accepts_every_non_object_is_flagged(
    schema: UntypedJson, *, flagged: bool
) -> None:
    """Only what surely does; references are followed, circles are not."""
    codes = {each.code for each in lints(schema, BY_NAME["draft-07"])}
    assert ("non-object-root" in codes) is flagged


def test_what_only_a_reference_reaches_is_linted_too() -> None:
    """A schema under an unknown word takes part once something refers to it."""
    schema = {"items": {"$ref": "#/types/a"}, "types": {"a": {"format": "int64"}}}
    assert _found(schema) == {("unknown-format", "/types/a/format")}
    outside = {"type": "object", "required": ["a"], "a": {"type": "string"}}
    assert _found(outside) == {("content-outside-properties", "/a")}
    # No object is accepted that could lack a name.
    codes = {
        code for code, _ in _found({"type": "string", "required": ["a"], **_CLOSED})
    }
    assert codes == {"type-excludes-keyword"}


def test_a_keyword_is_nobodys_misspelling() -> None:
    """No word that a draft knows is taken for a slip of another."""
    assert all(nearest(word) in ("", word) for word in KNOWN_KEYWORDS)


def test_the_rule_leaves_only_documented_codes() -> None:
    """Every code that the rule may leave has its meaning written down."""
    made = document({"format": "int32", "propertes": {}}, dialect="draft-07")
    result = flag_lints.apply(made, CONTEXT)
    assert {each.code for each in result.lints} <= set(flag_lints.lints)  # type: ignore[union-attr]  # it is kept
    assert all(meaning for meaning in CODES.values())


_WORDS = st.sampled_from([*sorted(KNOWN_KEYWORDS), "propertes", "x", "_format"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.dictionaries(_WORDS, _VALUES, max_size=5), st.sampled_from(sorted(BY_NAME)))
def test_no_value_anywhere_makes_a_check_fail(
    schema: UntypedJson, dialect: str
) -> None:
    """Malformed keywords are passed over; the answer is sorted and each once."""
    found = lints(schema, BY_NAME[dialect])
    assert found == sorted(set(found))


def test_every_format_has_an_example_here() -> None:
    """A format that is added is tested too."""
    assert set(examples()) == {each.name for each in tables().format}


@pytest.mark.parametrize("name", sorted(examples()))
def test_each_format_is_found_anywhere(name: str) -> None:
    """In a description, deep in data, as a name, between other words."""
    secret = examples()[name]
    cases: list[tuple[Json, str]] = [
        ({"description": f"use {secret} here"}, "/description"),
        ({"examples": [{"a": ["x", secret]}]}, "/examples/0/a/1"),
        ({"properties": {secret: {}}}, "/properties"),
        ({"a/b": {"~": f"key='{secret}'", "big": 2**70}}, "/a~1b/~0"),
    ]
    for schema, pointer in cases:
        found = find_credential(schema)
        assert found is not None
        assert (found.format, found.pointer) == (name, pointer)


@pytest.mark.parametrize("name", sorted(examples()))
def test_the_value_is_never_repeated(name: str) -> None:
    """The rejection names the format and the place only."""
    secret = examples()[name]
    made = document({"properties": {secret: {"default": secret}}})
    result = clean.secret.apply(made, CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.SECRET
    assert name in result.detail
    assert secret[8:] not in repr(result)


@pytest.mark.parametrize(
    "text",
    [
        "AK" + "IA" + "IOSFODNN7EXAMPLE",
        "gh" + "p_" + "x" * 36,
        "gh" + "p_" + "A" * 36,
        "AI" + "za" + "X" * 35,
        "h" + "f_" + "yourtokenyourtokenyourtokenyourtok",
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        "a PRIVATE KEY in PEM format",
        "^gh[pousr]_[A-Za-z0-9]{36}$",
        "prefix" + "AK" + "IA" + LETTERS[:16],
        "AK" + "IA" + LETTERS[:20],
        "eyJ.eyJ.x",
        "sk_test_" + MIXED[:24],
    ],
)
def test_placeholders_and_near_misses_are_no_credentials(text: str) -> None:
    """Documented examples, repeated characters, patterns, longer words."""
    assert find_credential({"description": text}) is None


@given(
    st.recursive(
        st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_ordinary_text_is_no_credential(value: Json) -> None:
    """Nothing crashes on any text, and chance makes no credential."""
    assert find_credential(value) is None


def test_a_key_of_nothing_but_headers_is_read_to_its_end() -> None:
    """Each could end at any of its spaces: tried in every way, they take years."""
    text = "-----BEGIN " + "PRIVATE KEY-----\n" + "a: " * 2_000
    assert find_credential(text) is None
    assert find_credential(text + "\n" + MIXED) is not None


@pytest.mark.parametrize(
    ("name", "beginnings"),
    [
        ("JSON web token", ("-eyJ" + "a" * 116) * 5_000),
        ("OpenAI key", "-sk-" * 150_000 + " T3Blbk" + "FJ"),
    ],
    ids=["JSON web token", "OpenAI key"],
)
def test_a_text_of_nothing_but_beginnings_is_read_to_its_end(
    name: str, beginnings: str
) -> None:
    """A text may have any length: read to its end from each, it takes minutes."""
    found = find_credential(f"{beginnings} {examples()[name]}")
    assert found is not None
    assert found.format == name


def test_credentials_as_long_as_they_are_issued_are_found() -> None:
    """A key of a project, and a token with an address list and hundreds of claims."""
    key = "s" + "k-proj-" + MIXED[:70] + "_-9T3Blbk" + "FJ" + MIXED[:70] + "_-8A"
    token = ".".join(("ey" + "J" + MIXED * 20, "ey" + "J" + MIXED * 200, MIXED * 8))
    for name, secret in {"OpenAI key": key, "JSON web token": token}.items():
        found = find_credential({"description": f"use {secret} here"})
        assert found is not None
        assert found.format == name
