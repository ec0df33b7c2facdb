"""Profiles are read strictly; each rule finds its part of a schema, once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.fit import scan
from curation.fit.checks import CHECKS, features_of
from curation.fit.profile import (
    PARAMETERS,
    Effect,
    Profile,
    ProfileRule,
    ProfileSource,
    SourceKind,
    load_profile,
    load_profiles,
    profile_names,
)
from curation.fit.records import RecordFit, record_fit, target_counts
from curation.fit.verdict import is_taken, judge_fit, untold_keywords
from curation.system.errors import BadData, BadUsage, NoInput

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson


_PAGE = ProfileSource(title="A page", date="2026-11-25", evidence=SourceKind.DOCUMENTED)


def _profile(
    check: str, effect: Effect = Effect.REFUSED, **more: UntypedJson
) -> Profile:
    rule = ProfileRule(check=check, effect=effect, source="page", **more)
    return Profile(
        name="mine", title="", date="", sources={"page": _PAGE}, rules=(rule,)
    )


_TREE = {
    "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}},
    "$ref": "#/$defs/node",
}
_LIST = {"properties": {"next": {"anyOf": [{"$ref": "#"}]}}, "required": ["next"]}
#: References to the whole of `properties`, at the root and in a property.
_WHOLE = {"$ref": "#/properties", "properties": {"items": {"$ref": "#/properties"}}}
_INNER = {"items": {"$ref": "#/properties/a/properties"}}
#: A reference into what another reference leads to.
_INSIDE = {
    "anyOf": [{"$ref": "#/x/a"}, {"$ref": "#/x/a/items"}],
    "x": {"a": {"items": {"$ref": "#/nothing"}}},
}
_TWICE = {
    "$defs": {"name": {"oneOf": [True]}},
    "properties": {"a": {"$ref": "#/$defs/name"}, "b": {"$ref": "#/$defs/name"}},
}
_PAIR = {"names": ("pattern",), "beside": ("maxLength",)}
_STRINGS = {**_PAIR, "types": ("string",)}
_NESTED = {"type": "object", "properties": {"a": {"type": "array", "items": {}}}}


@pytest.mark.parametrize(
    ("check", "more", "schema", "pointers"),
    [
        ("keyword", {"names": ("oneOf",)}, _TWICE, ["/$defs/name/oneOf"]),
        ("keyword", {"names": ("oneOf",)}, {"x": {"n": {"oneOf": []}}}, []),
        (
            "keyword",
            {"names": ("oneOf",)},
            {
                "$ref": "#/x/m",
                "x": {"m": {"items": {"$ref": "#/x/n"}}, "n": {"oneOf": []}},
            },
            ["/x/n/oneOf"],
        ),
        ("keyword", {"names": ("oneOf",)}, {"enum": [{"oneOf": []}]}, []),
        ("keyword", {"names": ("minItems",), "values": (0, 1)}, {"minItems": 1}, []),
        (
            "keyword",
            {"names": ("minItems",), "values": (0, 1)},
            {"minItems": 2},
            ["/minItems"],
        ),
        ("keyword", _PAIR, {"pattern": "a"}, []),
        ("keyword", _PAIR, {"pattern": "a", "maxLength": 3}, ["/pattern"]),
        (
            "keyword",
            {**_PAIR, "types": ("string",)},
            {"pattern": "a", "maxLength": 3},
            [],
        ),
        (
            "other-keyword",
            {"names": ("type",)},
            {"x": 1, "enum": [], "title": ""},
            ["/enum"],
        ),
        ("root-type", {"names": ("object",)}, {"type": "object"}, []),
        ("root-type", {"names": ("object",)}, {"type": ["object", "null"]}, ["/type"]),
        ("root-type", {"names": ("object",)}, {}, [""]),
        ("root-keyword", {"names": ("anyOf",)}, {"anyOf": [{"anyOf": []}]}, ["/anyOf"]),
        ("boolean-schema", {}, {"properties": {"a": True}}, ["/properties/a"]),
        ("boolean-schema", {}, {"additionalProperties": False}, []),
        ("boolean-schema", {}, True, [""]),
        ("untyped", {"names": ("enum",)}, {"enum": []}, []),
        ("untyped", {"names": ("enum",)}, {"minimum": 1}, [""]),
        ("type-list", {}, {"items": {"type": ["null"]}}, ["/items/type"]),
        ("open-object", {}, {"properties": {}}, [""]),
        ("open-object", {}, {"type": "object", "additionalProperties": False}, []),
        (
            "open-object",
            {},
            {"type": ["object"], "additionalProperties": {"type": "null"}},
            ["/additionalProperties"],
        ),
        (
            "optional-property",
            {},
            {"properties": {"a": {}, "b/c": {}}, "required": ["a"]},
            ["/properties/b~1c"],
        ),
        ("format", {"names": ("date",)}, {"format": "date"}, []),
        ("format", {"names": ("date",)}, {"format": "x"}, ["/format"]),
        ("enum-type", {"names": ("string",)}, {"enum": ["a", {}]}, ["/enum"]),
        ("enum-type", {"names": ("string",)}, {"const": 1}, ["/const"]),
        ("pattern", {"names": ("unanchored",)}, {"pattern": "^a$"}, []),
        ("pattern", {"names": ("unanchored",)}, {"pattern": "a"}, ["/pattern"]),
        ("remote-reference", {}, {"$ref": "https://a.example/b"}, ["/$ref"]),
        ("remote-reference", {}, _TREE, []),
        ("recursive-reference", {}, _TREE, ["/$defs/node/properties/next/$ref"]),
        ("recursive-reference", {}, _TWICE, []),
        ("recursive-reference", {}, {"items": {"$ref": "#"}}, ["/items/$ref"]),
        ("beside-reference", {"names": ()}, {"$ref": "#", "title": ""}, ["/title"]),
        ("depth", {"most": 2}, _NESTED, []),
        ("depth", {"most": 1}, _NESTED, [""]),
        (
            "depth",
            {"most": 1},
            {"type": "object", "dependentSchemas": {"a": {"type": "object"}}},
            [],
        ),
        ("properties", {"most": 1}, _TWICE, [""]),
        ("keyword", {"names": ("maxItems",), "most": 9}, {"maxItems": 9}, []),
        (
            "keyword",
            {"names": ("maxItems",), "most": 9},
            {"maxItems": 10},
            ["/maxItems"],
        ),
        ("undeclared-property", {}, {"required": ["a"]}, ["/required"]),
        ("tuple", {}, {"items": [{}]}, ["/items"]),
        ("array-without-items", {}, {"type": ["array", "null"]}, [""]),
        ("required-recursion", {}, _TREE, []),
        ("required-recursion", {}, _LIST, ["/properties/next/anyOf/0/$ref"]),
        ("required-recursion", {}, _WHOLE, []),
        (
            "required-recursion",
            {},
            {"properties": {"properties": _WHOLE}, "required": ["properties"]},
            [],
        ),
        (
            "required-recursion",
            {},
            {"properties": {"a": {"properties": _INNER}}, "required": ["a"]},
            ["/properties/a/properties/items/$ref"],
        ),
        ("dangling-reference", {}, {"$ref": "#/$defs/a"}, ["/$ref"]),
        ("dangling-reference", {}, _INSIDE, ["/x/a/items/$ref"]),
        ("no-pointer", {}, {"items": {"$ref": "#"}}, ["/items/$ref"]),
        (
            "reference-in",
            {"names": ("allOf",)},
            {"allOf": [{"$ref": "#"}]},
            ["/allOf/0/$ref"],
        ),
        ("nested-identifier", {}, {"$id": "a:b", "not": {"$id": "c"}}, ["/not/$id"]),
        ("long-enum", {"most": 3, "values": (1,)}, {"enum": ["ab", "cd"]}, ["/enum"]),
        ("long-enum", {"most": 3, "values": (2,)}, {"enum": ["ab", "cd"]}, []),
        ("optional-properties", {"most": 2}, _TWICE, []),
        ("unions", {"most": 0}, {"type": ["null"]}, [""]),
        ("enum-values", {"most": 1}, {"enum": [1, 2]}, [""]),
        ("characters", {"most": 3}, {"enum": ["ab"], "properties": {"cd": {}}}, [""]),
    ],
)
def test_a_check_finds_its_places(
    check: str, more: dict[str, UntypedJson], schema: UntypedJson, pointers: list[str]
) -> None:
    """Data and unknown members are no schemas; what a reference leads to is one."""
    findings = judge_fit(schema, _profile(check, **more))
    assert [finding.pointer for finding in findings] == pointers
    assert all(finding.rule == check for finding in findings)


def test_depth_follows_references() -> None:
    """An object in a definition counts where it is used; a circle is not followed."""
    definition = {"type": "object", "properties": {"b": {"$ref": "#/$defs/y"}}}
    schema: UntypedJson = {
        "type": "object",
        "properties": {"a": {"anyOf": [{"$ref": "#/$defs/x"}]}, "c": {"$ref": "#"}},
        "$defs": {"x": definition, "y": {"type": "array", "items": {}}},
    }
    assert judge_fit(schema, _profile("depth", most=2))
    assert not judge_fit(schema, _profile("depth", most=3))


def test_depth_looks_at_each_schema_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In whichever order definitions refer to each other."""
    definitions: UntypedJson = {"d0": {"type": "object", "allOf": [{}]}}
    for number in range(1, 99):
        reference = {"$ref": f"#/$defs/d{number - 1}"}
        definitions[f"d{number}"] = {"type": "array", "items": reference}
    schema: UntypedJson = {"$ref": "#/$defs/d98", "$defs": definitions}
    looks: list[UntypedJson] = []
    is_nested = scan._is_nested

    def noted(part: UntypedJson) -> int:
        looks.append(part)
        return is_nested(part)

    monkeypatch.setattr(scan, "_is_nested", noted)
    (finding,) = judge_fit(schema, _profile("depth", most=1))
    assert finding.sentence.startswith("99 levels")
    assert len(looks) == 1 + 2 * 99


@pytest.mark.parametrize(
    ("pattern", "features"),
    [
        (r"^\d{4}$", ("class-escape",)),
        (r"^[^\]?]+?$", ("lazy-quantifier",)),
        (r"^[(?=)]$", ()),
        (r"^\\b$", ()),
        (r"^\b(a)\1$", ("back-reference", "word-boundary")),
        (r"^(?<year>\p{L})(?<!x)$", ("lookaround", "unicode-property", "named-group")),
        ("a", ("unanchored",)),
    ],
)
def test_features_of_a_pattern(pattern: str, features: tuple[str, ...]) -> None:
    """What stands in a character class or behind a backslash is itself."""
    assert features_of(pattern) == features


@pytest.mark.parametrize("value", [None, 5, "object", [{}]])
def test_what_is_no_schema_is_refused_by_all(value: UntypedJson) -> None:
    """A tool whose parameters are a text has one finding, and no crash."""
    (finding,) = judge_fit(value, load_profile("openai-strict"))
    assert finding.rule == "not-a-schema"


def test_effects_decide_what_is_taken() -> None:
    """What is ignored or left to another engine is taken; a limit ends a request."""
    schema: UntypedJson = {"oneOf": [True]}
    taken = {
        effect: is_taken(
            judge_fit(schema, _profile("keyword", effect, names=("oneOf",)))
        )
        for effect in Effect
    }
    assert taken == {
        Effect.REFUSED: False,
        Effect.LIMITED: False,
        Effect.IGNORED: True,
        Effect.ROUTED: True,
    }


def test_what_no_source_tells_is_said_to_be_untold() -> None:
    """Keywords in no rule and not in `taken` are named; annotations are not."""
    profile = load_profile("openai-strict")
    schema: UntypedJson = {"oneOf": [{"divisibleBy": 1, "title": "a"}]}
    assert untold_keywords(schema, profile) == ("divisibleBy",)


def test_an_escaped_backslash_is_no_class() -> None:
    r"""`C:\\docs` has none."""
    assert "class-escape" not in features_of(r"^C:\\docs$")
    assert "class-escape" in features_of(r"^\\\d$")


_SMALL = """
name = "mine"
title = "Mine"
date = "2026-11-25"

[sources.page]
title = "A page"
date = "2026-11-25"
evidence = "documented"

[[rules]]
check = "keyword"
names = ["oneOf"]
effect = "refused"
source = "page"
"""


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_of_ours_is_read(name: str) -> None:
    """It has its file's name, and each rule leads to a dated source."""
    profile = load_profile(name)
    assert profile.name == name
    assert profile.rules
    assert all(profile.sources[rule.source].date for rule in profile.rules)


def test_each_check_has_its_parameters() -> None:
    """The reader of profiles and the judge know the same checks."""
    assert CHECKS.keys() == PARAMETERS.keys()


def test_a_file_of_the_users_is_a_profile(tmp_path: Path) -> None:
    """Its path stands where a name does."""
    file = tmp_path / "mine.toml"
    file.write_text(_SMALL, "utf-8")
    assert load_profile(str(file)).rules[0].names == ("oneOf",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title", "titel", "unknown key 'titel': did you mean 'title'?"),
        ("effect", "efect", "unknown key 'efect' in rules[0]: did you mean 'effect'?"),
        ("evidence", "proof", "unknown key 'proof' in sources[page]"),
        ("oneOf", "onOf", "unknown keyword 'onOf' in rules[0]: did you mean 'oneOf'?"),
        ('"keyword"', '"keywrd"', "unknown check 'keywrd' in rules[0]: did you mean"),
        ('source = "page"', 'source = "pge"', "unknown source 'pge' in rules[0]: did"),
        (
            "[[rules]]",
            "[[rules]]\ncheck='tuple'\neffect='refused'\nsource='page'\nmost=3\n[[rules]]",
            "'tuple' in rules[0] takes no 'most'",
        ),
        ('names = ["oneOf"]', "", "'keyword' in rules[0] needs 'names'"),
        ("refused", "denied", "Invalid enum value 'denied' - at `$.rules[0].effect`"),
        ("[[rules]]", "[rules]", "Expected `array`, got `object` - at `$.rules`"),
        ("[sources.page]", "[sources", "not TOML"),
        ('"Mine"', "[" * 3_000, "not TOML"),
    ],
)
def test_a_typo_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Whatever is wrong, the line says the file, the key and what may be meant."""
    file = tmp_path / "mine.toml"
    file.write_text(_SMALL.replace(old, new, 1), "utf-8")
    with pytest.raises(BadData) as error:
        load_profile(str(file))
    assert str(error.value).startswith(str(file))
    assert message in str(error.value)


def test_a_name_that_no_target_has_is_wrong_usage(tmp_path: Path) -> None:
    """The likeliest name is proposed; a missing file is missing."""
    with pytest.raises(BadUsage, match="did you mean openai-strict"):
        load_profile("openai-strct")
    with pytest.raises(NoInput):
        load_profile(str(tmp_path / "none.toml"))


def test_two_targets_of_one_name_are_wrong_usage(tmp_path: Path) -> None:
    """Else what one takes would be shown as the other's, as of two versions."""
    file = tmp_path / "older.toml"
    file.write_text(_SMALL.replace('"mine"', '"llguidance"'), "utf-8")
    assert "llguidance" in file.read_text("utf-8")
    with pytest.raises(BadUsage, match="llguidance: two targets of one name"):
        load_profiles(f"llguidance,{file}")
    assert len(load_profiles(f"vllm,vllm,{file}")) == 2


_OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def test_one_rule_in_the_way_is_named_and_several_are_not() -> None:
    """A target stands in one column, or in none if it refuses for two reasons."""
    fit = record_fit(json.dumps(_OPEN))
    assert {"gemini", "vllm"} <= {*fit.fits}
    assert fit.fits_but_for[:2] == (
        "anthropic: open-object",
        "openai-strict: open-object",
    )
    two = record_fit(json.dumps(_OPEN | {"maxProperties": 3}))
    assert not [it for it in two.fits_but_for if it.startswith("openai-strict")]
    assert "openai-strict" not in two.fits


def test_counts_are_of_targets_that_rows_name() -> None:
    """A target that was never asked has no 0; the most frequent rule comes first."""
    rows = [
        RecordFit(("a",), ("b: `not`",)),
        RecordFit(("a",), ("b: depth",)),
        RecordFit(("a", "b"), ()),
        RecordFit((), ("b: depth",)),
    ]
    counts = target_counts(rows)
    assert {name: it.taken for name, it in counts.items()} == {"a": 3, "b": 1}
    assert list(counts["b"].but_for.items()) == [("depth", 2), ("`not`", 1)]
    assert target_counts([]) == {}
