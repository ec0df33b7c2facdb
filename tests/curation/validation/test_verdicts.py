"""What each validator says of a schema and of its patterns; none fetches."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import regress
from hypothesis import given
from hypothesis import strategies as st

from curation.references.verdicts import python_verdict, rust_verdict
from curation.schema.dialects import BY_NAME, DIALECTS, Dialect
from curation.validation import fastjsonschema_check
from curation.validation.fastjsonschema_check import (
    COMPILES,
    fastjsonschema_verdicts,
    verdict,
)
from curation.validation.patterns import (
    MAX_PATTERN_LENGTH,
    is_ecma,
    is_prone,
    is_readable,
    pattern_verdict,
    repaired,
)
from curation.validation.python_validators import jsonschema
from tests.made import record, sha256
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.core.records import BenchmarkRecord


NEWEST = BY_NAME["2020-12"]


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"$ref": "#/definitions/a%20b", "definitions": {"a b": {}}}, "draft-04"),
        ({"$ref": "#a", "definitions": {"x": {"id": "#a"}}}, "draft-04"),
        ({"$ref": "#a", "definitions": {"x": {"$id": "#a"}}}, "draft-07"),
        ({"$ref": "#a", "$defs": {"x": {"$anchor": "a"}}}, "2020-12"),
        ({"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}}}, "2020-12"),
        ({"$recursiveRef": "#", "$recursiveAnchor": True}, "2019-09"),
        ({"$ref": "http://json-schema.org/draft-04/schema#"}, "draft-04"),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, "2020-12"),
        (
            {
                "$id": "http://a.example/root",
                "$ref": "part#/$defs/y",
                "$defs": {"x": {"$id": "part", "$defs": {"y": {"$ref": "root"}}}},
            },
            "2020-12",
        ),
        ({"items": {"$ref": "#/types/x"}, "types": {"x": {"$ref": "#"}}}, "draft-07"),
        ({"properties": {"$ref": {"type": "string"}}}, "draft-07"),
        ({"default": {"$ref": "#/no"}, "enum": [{"$ref": "b.json"}]}, "draft-07"),
    ],
)
def test_what_resolves_offline_is_accepted_by_both(
    schema: UntypedJson, name: str
) -> None:
    """Pointers, anchors, embedded resources and metaschemas are found."""
    dialect = BY_NAME[name]
    assert python_verdict(schema, dialect, thorough=True).accepts
    assert rust_verdict(schema, dialect).accepts


@pytest.mark.parametrize(
    ("schema", "name", "ref"),
    [
        ({"$ref": "#/definitions/a"}, "draft-04", "#/definitions/a"),
        ({"not": {"$ref": "#a"}}, "2020-12", "#a"),
        ({"$ref": "other.json"}, "draft-07", "other.json"),
        (
            {"items": {"$ref": "#/types/x"}, "types": {"x": {"$ref": "#/no"}}},
            "draft-07",
            "#/no",
        ),
        (
            {
                "$ref": "#/$defs/x",
                "$defs": {
                    "x": {"$id": "http://a.example/x", "$ref": "#/$defs/y"},
                    "y": {},
                },
            },
            "2020-12",
            "#/$defs/y",
        ),
    ],
)
def test_a_lost_reference_is_named(schema: UntypedJson, name: str, ref: str) -> None:
    """A reference that leads nowhere is refused by both, and called lost."""
    said = python_verdict(schema, BY_NAME[name], thorough=False)
    assert said.lost_reference
    assert ref in str(said)
    assert not rust_verdict(schema, BY_NAME[name]).accepts


def test_only_a_thorough_look_finds_an_invalid_schema() -> None:
    """Without `thorough` the metaschema is taken as passed."""
    schema: UntypedJson = {"type": "text"}
    assert python_verdict(schema, NEWEST, thorough=False).accepts
    said = python_verdict(schema, NEWEST, thorough=True)
    assert not said.accepts
    assert not said.lost_reference


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
def test_a_library_that_fails_is_a_refusal(dialect: Dialect) -> None:
    """Where `referencing` itself breaks, the schema cannot be used, and we go on."""
    schema: UntypedJson = {"properties": {"a": [1]}, "not": {"$ref": "#b"}}
    said = python_verdict(schema, dialect, thorough=False)
    assert "its library fails" in str(said)


def test_a_verdict_reads_as_a_clause() -> None:
    """A verdict says who, what and where, on one line."""
    said = rust_verdict({"properties": {"a": {"pattern": "("}}}, NEWEST)
    assert str(said) == (
        'jsonschema-rs refuses it: /properties/a/pattern: "(" is not a "regex"'
    )
    assert str(rust_verdict({}, NEWEST)) == "jsonschema-rs accepts it"


def test_cycles_end() -> None:
    """Schemas that refer to themselves and to each other are followed once."""
    schema: UntypedJson = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    }
    assert python_verdict(schema, NEWEST, thorough=False).accepts


def test_only_what_refers_in_its_dialect_is_followed() -> None:
    """`$dynamicRef` is a word of 2020-12, and none of 2019-09."""
    schema: UntypedJson = {"items": {"$dynamicRef": "#gone"}}
    for dialect, accepts in (("2020-12", False), ("2019-09", True)):
        said = python_verdict(schema, BY_NAME[dialect], thorough=False)
        assert said.accepts is accepts


def of(schema: object) -> BenchmarkRecord:
    """Return a record of this schema."""
    text = json.dumps(schema)
    return record(sha256(text)[:8], json_schema=text, sha256=sha256(text))


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": "string"}, COMPILES),
        (True, COMPILES),
        ({"type": "strange"}, "JsonSchemaDefinitionException"),
        ({"pattern": "("}, "re.error"),
        ({"$ref": "#/definitions/x"}, "JsonSchemaDefinitionException"),
        ({"$ref": "ftp://127.0.0.1/x"}, "RemoteReferenceError"),
        ({"$ref": "other.json"}, "RemoteReferenceError"),
        ({"properties": {'a"\n\'"""{x}\\': {"type": "string"}}}, COMPILES),
    ],
)
def test_verdicts(schema: object, wanted: str) -> None:
    """What compiles is said to, and what does not by the exception's name."""
    assert verdict(json.dumps(schema)) == wanted


def test_what_is_too_large_is_counted_and_never_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Characters times levels decide, the same on every machine."""
    monkeypatch.setattr(fastjsonschema_check, "MAX_LENGTH", 100)
    small, large = of({"const": 1}), of({"const": "x" * 100})
    assert fastjsonschema_verdicts([small, large], jobs=1) == {
        small.sha256: COMPILES,
        large.sha256: "too_large",
    }


def test_nothing_is_fetched(trap: tuple[str, list[str]]) -> None:
    """A remote reference is refused, not followed."""
    address, seen = trap
    done = fastjsonschema_verdicts([of({"$ref": f"{address}/x"})], jobs=1)
    assert [*done.values()] == ["RemoteReferenceError"]
    assert seen == []


def test_each_record_has_a_verdict() -> None:
    """It is that of its own schema, and each record is counted."""
    records = [of({"const": number}) for number in range(40)]
    strange = of({"type": "strange"})
    records.insert(7, strange)
    steps: list[int] = []
    verdicts = fastjsonschema_verdicts(records, jobs=2, progress=steps.append)
    assert verdicts == {
        **{each.sha256: COMPILES for each in records},
        strange.sha256: "JsonSchemaDefinitionException",
    }
    assert sum(steps) == len(records)


CODE = """
import sys
from curation.validation.python_validators import jsonschema
from tests.slow_cases import first_fast
print("rfc3987_syntax" in sys.modules or "lark" in sys.modules)
checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
print(checker.conforms("http://example.com/\\u00e9", "iri"))
print(checker.conforms("http://[", "iri"), checker.conforms("<", "iri-reference"))
print("lark" in sys.modules)
print(checker.conforms("a b", "uri-reference"), checker.conforms("a", "uri-reference"))
"""


@pytest.mark.slow
def test_the_grammar_of_iris_is_built_when_one_is_checked() -> None:
    """Not before, and with the same verdicts."""
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
    )
    words = done.stdout.split()
    assert words == ["False", "True", "False", "False", "True", "False", "True"]


@pytest.mark.parametrize(
    "module",
    first_fast(
        1,
        [
            "curation.instances.dataset.worker",
            "curation.verification.run",
            "evaluation.suites.coverage.scorer",
        ],
    ),
)
def test_no_program_builds_the_grammar_when_it_starts(module: str) -> None:
    """It takes a second, which every process of a pool would pay."""
    code = (
        f"import sys, {module}\n"
        "print('jsonschema' in sys.modules, 'lark' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]


def test_durations_and_uris_are_judged_by_the_real_libraries() -> None:
    """Their stand-ins import them, and a refusal of theirs is one of the format."""
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    values = {"duration": ("P1D", "P1"), "uri": ("http://a/b", "a b")}
    for name, (good, bad) in values.items():
        assert [checker.conforms(each, name) for each in (good, bad)] == [True, False]


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        r"^[a-z]+$",
        r"\d\D\w\W\s\S\b\B",
        r"(?:a|b){2,3}?",
        r"(?=a)a(?!b)",
        r"(?<=a)b",
        r"[\-a]",
        r"\/\^\$",
        r"\p{Lu}",
        "\u00e9\U0001f600",
    ],
)
def test_what_the_strict_grammar_allows_stays(pattern: str) -> None:
    """A pattern that is fine is returned as it is."""
    assert pattern_verdict(pattern).pattern == pattern


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"\-", "-"),
        (r"\_\@\:\ \"", '_@: "'),
        (r"[\_\@\-]", r"[_@\-]"),
        (r"{{.+}}", r"\{\{.+\}\}"),
        (r"a]", r"a\]"),
        (r"x{1..2}", r"x\{1..2\}"),
        (r"[\w-.]", r"[\w\-.]"),
        (r"[+-\d]", r"[+\-\d]"),
        (r"[\s-a-z]", r"[\s\-a\-z]"),
        (r"[\w-.-_]", r"[\w\-.\-_]"),
        (r"[\s--z]", r"[\s\-\-z]"),
        (r"\01", r"\x01"),
        (r"[^\0]", r"[^\x00]"),
        (r"[\b]", r"[\x08]"),
        (r"\cJ", r"\x0a"),
        (r"[^]", r"[\s\S]"),
        (r"(?<year>\d{4})", r"(\d{4})"),
        (r"(?P<year>\d{4})", r"(\d{4})"),
        (r"\u{61}", r"\u0061"),
        (r"^[[a-z]*]*$", r"^[\[a-z]*\]*$"),
    ],
)
def test_the_looser_grammar_is_said_in_the_strict_one(
    pattern: str, expected: str
) -> None:
    """Each repair of the description, on its own."""
    assert pattern_verdict(pattern).pattern == expected
    assert is_ecma(expected)
    assert is_readable(expected)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [(r"(?=a)*b", r"(?:(?=a))*b"), (r"(?!a){2}b", r"(?:(?!a)){2}b")],
)
def test_a_repeated_look_ahead_gets_a_group(pattern: str, expected: str) -> None:
    """Strict ECMA repeats groups only; jsonschema-rs reads neither spelling."""
    assert pattern_verdict(pattern).pattern == expected
    assert is_ecma(expected)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\Aabc\Z",
        r"\z",
        r"\h",
        r"(?i)abc",
        r"(?#comment)",
        r"a++",
        r"(?>a)",
        r"*",
        r"^*$",
        r"a**",
        r"(",
        r")",
        r"[",
        r"[b-a]",
        "\\",
        r"a{,5}",
        r"a{2,1}",
        r"\k<n>-",
        r"(?P=n)",
        r"\u{110000}",
        r"[\B]",
        r"\8",
        "\ud800",
        "a" * (MAX_PATTERN_LENGTH + 1),
    ],
)
def test_what_cannot_be_told_is_not_repaired(pattern: str) -> None:
    """Python's own syntax and broken texts have no repair, and a reason."""
    verdict = pattern_verdict(pattern)
    assert verdict.pattern is None
    assert verdict.note


def test_a_name_that_is_referred_to_is_kept() -> None:
    """Dropping it would change what the back reference means."""
    assert pattern_verdict(r"(?<q>['a])\w+\k<q>").pattern == r"(?<q>['a])\w+\k<q>"


_PIECES = st.sampled_from(
    [
        *"abc-_:@ .{}],",
        r"\-",
        r"\_",
        r"\ ",
        r"\:",
        r"\d",
        r"\w",
        r"\.",
        r"\/",
        r"\0",
        r"\x41",
        r"[\_a]",
        r"[a-c]",
        r"[\w-:]",
        r"[\s-a-c]",
        r"[\w-.-_]",
        r"[\s--b]",
        r"[[a]",
        r"[^\-]",
        "(a|b)",
        "(?:-)",
        "(?=a)",
        "(?=a)*",
        "(?<n>c)",
        "*",
        "?",
        "+?",
        "{2}",
        "{1,}",
        "{,2}",
        "^",
        "$",
        "|",
    ]
)
_TEXTS = st.text(alphabet="abc-_:@ .{}],09\x00[\n", max_size=8)


@given(st.lists(_PIECES, min_size=1, max_size=6), st.lists(_TEXTS, min_size=8))
def test_a_repaired_pattern_matches_what_the_loose_one_matched(
    pieces: list[str], texts: list[str]
) -> None:
    """An ECMA engine without the flag agrees with itself under the flag."""
    pattern = "".join(pieces)
    result = repaired(pattern)
    if result is None:
        return
    assert is_ecma(result)
    loose, strict = regress.Regex(pattern), regress.Regex(result, "u")
    for text in texts:
        assert (loose.find(text) is None) is (strict.find(text) is None)
    assert repaired(result) == result


@given(st.text(max_size=30))
def test_any_text_has_a_verdict(pattern: str) -> None:
    """Whatever stands there, nothing crashes, and a kept pattern is strict."""
    verdict = pattern_verdict(pattern)
    assert verdict.pattern is None or is_ecma(verdict.pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(a+)+$",
        r"^(a*)*$",
        r"(\w+|-)*",
        r"^([^/ ]+(/)?)+$",
        r"((a+)b?)+",
        r"(?:x*){2,}",
        r"([a-z]*)*",
    ],
)
def test_nested_repetitions_are_prone(pattern: str) -> None:
    """A repetition whose body can be one bare repetition backtracks for ever."""
    assert is_prone(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[a-z]+$",
        r"^([a-z]+\.)+$",
        r"^(a{1,3})+$",
        r"(ab*)*",
        r"(\/?([a-z]*)($|\/))*",
        r"((a)+)?",
        r"[(a+)+]",
        r"\(a+\)+",
        r"(?=(a+))",
        "(" * 1000,
        "",
    ],
)
def test_what_is_not_surely_prone_is_left_alone(pattern: str) -> None:
    """A separator, a bound or an anchor makes an end of it."""
    assert not is_prone(pattern)
