"""Profiles are read strictly; each rule finds its part of a schema, once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest
from msgspec.structs import replace

from curation.fit import scan
from curation.fit.checks import CHECKS, pattern_features
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
from curation.fit.records import RecordFit, record_fit
from curation.fit.verdict import (
    UNDOCUMENTED,
    Tool,
    Verdict,
    decide_verdict,
    is_sendable,
    judge_fit,
    judge_name,
    judge_request,
    list_causes,
)
from curation.packaging.counts import target_counts
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.schema.subschemas import below
from curation.system.errors import BadData, BadUsage, NoInput
from tests.tables import table

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json, UntypedJson
    from curation.schema.dialects import Dialect
    from curation.schema.subschemas import SchemaLocation


_PAGE = ProfileSource(title="A page", date="2026-11-25", evidence=SourceKind.DOCUMENTED)


def _profile(
    check: str, effect: Effect = Effect.REFUSED, **more: UntypedJson
) -> Profile:
    rule = ProfileRule(check=check, effect=effect, source="page", **more)
    return Profile(
        name="mine",
        title="",
        date="",
        sources={"page": _PAGE},
        rules=(rule,),
        accepted=tuple(KNOWN_KEYWORDS),
    )


def test_a_check_finds_its_places(subtests: pytest.Subtests) -> None:
    """Data and unknown members are no schemas; what a reference leads to is one."""
    for check, more, schema, pointers in table(__file__, "checks"):
        with subtests.test(check=check, schema=schema):
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

    walks: list[SchemaLocation] = []

    def walked(start: SchemaLocation, dialect: Dialect) -> list[SchemaLocation]:
        walks.append(start)
        return below(start, dialect)

    monkeypatch.setattr(scan, "_is_nested", noted)
    monkeypatch.setattr(scan, "below", walked)
    (finding,) = judge_fit(schema, _profile("depth", most=1))
    assert finding.sentence.startswith("99 levels")
    assert (len(looks), len(walks)) == (1 + 2 * 99, 1)


@pytest.mark.parametrize(
    ("pattern", "features"),
    [
        (r"^\d{4}$", ("class-escape",)),
        (r"^[^\]?]+?$", ()),
        (r"^[(?=)]$", ()),
        (r"^\\b$", ()),
        (r"^\b(a)\1$", ("back-reference", "word-boundary")),
        (r"^(?<year>\p{L})(?<!x)$", ("lookaround",)),
        ("a", ("unanchored",)),
    ],
)
def test_features_of_a_pattern(pattern: str, features: tuple[str, ...]) -> None:
    """What stands in a character class or behind a backslash is itself."""
    assert pattern_features(pattern) == features


@pytest.mark.parametrize("value", [None, 5, "object", [{}]])
def test_what_is_no_schema_is_refused_by_all(value: UntypedJson) -> None:
    """A tool whose parameters are a text has one finding, and no crash."""
    (finding,) = judge_fit(value, load_profile("openai-strict"))
    assert finding.rule == "not-a-schema"


def test_effects_decide_what_is_sendable() -> None:
    """What is ignored or left to another engine is taken; a limit ends a request."""
    schema: UntypedJson = {"oneOf": [True]}
    verdicts = {
        effect: decide_verdict(
            judge_fit(schema, _profile("keyword", effect, names=("oneOf",)))
        )
        for effect in Effect
    }
    assert verdicts == {
        Effect.REFUSED: Verdict.REJECTED,
        Effect.BLOCKED: Verdict.BLOCKS,
        Effect.LIMITED: Verdict.REJECTED,
        Effect.IGNORED: Verdict.IN_PART,
        Effect.ROUTED: Verdict.ACCEPTED,
        Effect.UNKNOWN: Verdict.UNKNOWN,
        Effect.ACCEPTED: Verdict.ACCEPTED,
    }


def test_a_keyword_without_a_source_is_unknown() -> None:
    """Keywords in no rule and not in `accepted` are named; annotations are not."""
    profile = load_profile("openai-strict")
    schema: UntypedJson = {
        "type": "object",
        "properties": {"a": {"type": "number", "divisibleBy": 1, "title": "a"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    (finding,) = judge_fit(schema, profile)
    assert (finding.rule, finding.effect) == (UNDOCUMENTED, Effect.UNKNOWN)
    assert finding.pointer == "/properties/a/divisibleBy"
    assert decide_verdict([finding]) is Verdict.UNKNOWN
    # A limit says nothing of what is below it; accepted values do of the others.
    for more, is_unknown in (({"most": 9}, True), ({"values": (3,)}, False)):
        named = _profile("keyword", names=("maxItems",), **more)
        found = judge_fit({"maxItems": 3}, replace(named, accepted=()))
        assert bool(found) is is_unknown


_PLAIN: UntypedJson = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("target", "schema", "strict", "verdict"), table(__file__, "tools")
)
def test_tools_are_judged_as_they_are_sent(
    target: str,
    schema: UntypedJson,
    strict: bool,  # noqa: FBT001 (a column of the table)
    verdict: str,
) -> None:
    """Root, keys and open objects: by target, with `strict` and without."""
    found = judge_fit(schema, load_profile(target), tool=True, strict=strict)
    assert decide_verdict(found) == verdict, found


@pytest.mark.parametrize(
    ("name", "refusing"),
    [
        ("get_pet", ""),
        ("9files", "gemini gemini-functions"),
        ("get pet", "anthropic bedrock gemini gemini-functions openai"),
        ("get.pet", "anthropic bedrock openai"),
        ("n" * 64, ""),
        # The guide has 64 for Anthropic, and the service's answers 128.
        ("n" * 65, "bedrock gemini gemini-functions openai"),
        ("n" * 129, "anthropic bedrock gemini gemini-functions openai"),
        ("n" * 64 + "\n", "anthropic bedrock gemini gemini-functions openai"),
        ("ñandú", "anthropic bedrock gemini gemini-functions openai"),
    ],
)
def test_names_of_tools_are_judged(name: str, refusing: str) -> None:
    """Characters, the first of them, and length, by provider."""
    targets = ("anthropic", "bedrock", "gemini", "gemini-functions", "openai")
    tool = Tool(name, _PLAIN)
    assert refusing.split() == [
        target
        for target in targets
        if not is_sendable(judge_name(tool, load_profile(target)))
    ]


def test_a_name_has_one_fault() -> None:
    """By the first rule that it breaks: Anthropic has two about the length."""
    (fault,) = judge_name(Tool("n" * 129, _PLAIN), load_profile("anthropic"))
    assert fault.effect is Effect.REFUSED


def test_two_tools_of_one_name_and_too_many_end_a_request() -> None:
    """Strict tools alone count against Anthropic's limit."""
    profile = load_profile("anthropic")
    (twice,) = judge_request([Tool("a", _PLAIN), Tool("a", _PLAIN)], profile)
    assert twice.sentence == '2 tools have the name `"a"`'
    many = [Tool(f"t{index}", _PLAIN, strict=True) for index in range(21)]
    assert [it.rule for it in judge_request(many, profile)] == ["tools"]
    loose = [tool._replace(strict=False) for tool in many]
    assert not judge_request(loose, profile)


def test_an_escaped_backslash_is_no_class() -> None:
    r"""`C:\\docs` has none."""
    assert "class-escape" not in pattern_features(r"^C:\\docs$")
    assert "class-escape" in pattern_features(r"^\\\d$")


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


def test_a_profile_extends_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its limits count in place of the other's, and of all rules those of sources."""
    monkeypatch.chdir(tmp_path)
    rules = [("depth", 5), ("properties", 7), ("keyword", 9), ("depth", 2)]
    more = [
        f'[[rules]]\ncheck = "{check}"\nmost = {most}\neffect = "limited"\n'
        + ("source = 'page'\n" + "names = ['maxItems']\n" * (check == "keyword"))
        for check, most in rules
    ]
    other = "[[rules]]\ncheck = 'tuple'\neffect = 'refused'\nsource = 'other'\n"
    source = _SMALL[_SMALL.index("[sources") : _SMALL.index("[[")]
    base = _SMALL + "".join(more[:3]) + other + source.replace("page", "other")
    (tmp_path / "base.toml").write_text(base, "utf-8")
    title = 'title = "Mine"'
    start = _SMALL.replace(
        title, f"{title}\nextends = 'base.toml'\ninherits = ['page']"
    )
    own = start + "".join(more[2:])
    (tmp_path / "a.toml").write_text(own, "utf-8")
    assert [(rule.check, rule.most) for rule in load_profile("a.toml").rules] == [
        *[("keyword", None), ("keyword", 9), ("depth", 2)],
        *[("keyword", None), ("properties", 7), ("keyword", 9)],
    ]
    (tmp_path / "b.toml").write_text(own.replace("oneOf", "onOf"), "utf-8")
    (tmp_path / "c.toml").write_text(own.replace("base", "d"), "utf-8")
    (tmp_path / "d.toml").write_text(own.replace("base", "c"), "utf-8")
    for name, message in (
        ("b.toml", "unknown keyword 'onOf'"),
        ("c.toml", "a profile that extends itself: c.toml"),
    ):
        with pytest.raises(BadData, match=f"^{name}: {message}"):
            load_profile(name)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    table(__file__, "typos"),
)
def test_a_typo_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Whatever is wrong, the line says the file and the key."""
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
    file.write_text(_SMALL.replace('"mine"', '"gemini"'), "utf-8")
    assert "gemini" in file.read_text("utf-8")
    with pytest.raises(BadUsage, match="gemini: two targets of one name"):
        load_profiles(f"gemini,{file}")
    assert len(load_profiles(f"vllm,vllm,{file}")) == 2


_OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def test_one_rule_in_the_way_is_named_and_several_are_not() -> None:
    """A target stands in one column, or in none if it refuses for two reasons."""
    fit = record_fit(json.dumps(_OPEN))
    assert {"gemini", "openai"} <= {*fit.fits}
    assert {"anthropic: open-object", "openai-strict: open-object"} <= {
        *fit.fits_but_for
    }
    assert "vllm" not in fit.fits
    two = record_fit(json.dumps(_OPEN | {"maxProperties": 3}))
    assert not [it for it in two.fits_but_for if it.startswith("openai-strict")]
    assert "openai-strict" not in two.fits
    third: Json = {"type": "object", "properties": {"a": {"not": {}}}}
    causes = list_causes(third, load_profile("openai-strict"))
    assert causes == {"open-object", "optional-property"}
    ignored = record_fit('{"type": "string", "pattern": "a"}')
    assert "gemini" in ignored.fits


def test_counts_are_of_targets_that_rows_name() -> None:
    """A target that was never asked has no 0; the three most frequent rules come."""
    rows = [
        RecordFit(("a",), ("b: `not`",)),
        RecordFit(("a",), ("b: depth",)),
        RecordFit(("a", "b"), ()),
        RecordFit((), ("b: depth", "c: w", "c: x", "c: y", "c: z")),
    ]
    types = dict.fromkeys(RecordFit._fields, pl.List(pl.String))
    counts = target_counts(pl.DataFrame(rows, schema=types, orient="row"))
    accepted = {name: it["accepted"] for name, it in counts.items()}
    assert accepted == {"a": 3, "b": 1, "c": 0}
    assert [*counts["c"]["but_for"]] == ["w", "x", "y"]
    assert list(counts["b"]["but_for"].items()) == [("depth", 2), ("`not`", 1)]
    assert target_counts(pl.DataFrame(schema=types)) == {}
