"""F13 to F30: texts and schemas made to hurt, through the rule sets, in a worker."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Reason
from curation.json.text import parse
from curation.pipeline.process_document import LONGEST_DETAIL
from curation.validation import fastjsonschema_worker
from curation.workers.outcomes import Ending, ProcessResult
from curation.workers.pool import Pool
from curation.workers.process import Program
from tests.hostile import schemas
from tests.hostile.judging import LIMITS, RULES, judged, reason_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson

#: What a rule may say of a pattern that is hostile or none.
PATTERN_REASONS = {None, Reason.BAD_PATTERN, Reason.VALIDATORS_DISAGREE}
#: Where the second rule set is another way through the same code.
_RULES = ["clean", pytest.param("paper", marks=pytest.mark.slow)]


@cache
def _named(rules: str) -> dict[str, ProcessResult]:
    texts = {name: schemas.text(each) for name, each in schemas.NAMED.items()}
    return judged(rules, texts)


def _reasons(named: Mapping[str, UntypedJson]) -> dict[str, str | None]:
    return {name: reason_of(_named("clean")[name]) for name in named}


def _ends(outcome: ProcessResult) -> None:
    assert outcome.ending is Ending.OK, outcome
    answer = outcome.answer
    assert (answer["record"] is None) is (answer["rejected"] is not None)
    if answer["rejected"]:
        assert len(answer["rejected"]["detail"]) <= LONGEST_DETAIL


@pytest.mark.parametrize("rules", _RULES)
def test_every_hostile_schema_ends_as_a_record_or_a_reason(
    rules: str, subtests: pytest.Subtests
) -> None:
    """No rule raises, crashes, hangs or outgrows its memory on it."""
    for name in schemas.NAMED:
        with subtests.test(name=name):
            _ends(_named(rules)[name])


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
def test_large_schemas_and_misplaced_keywords_are_no_fault(
    rules: str, subtests: pytest.Subtests
) -> None:
    """Sizes at which naive code fails; each keyword with values that it never has."""
    every = {**schemas.SIZES, **dict(schemas.misplaced())}
    texts = {name: schemas.text(each) for name, each in every.items()}
    for name, outcome in judged(rules, texts).items():
        with subtests.test(name=name):
            _ends(outcome)


_TOKEN = "ghp_" + "q7Vn2LkT9xZb4RmW8cYd" + "J3fHs6Gp1AuE5iNo"
_SECRETS: tuple[UntypedJson, ...] = (
    {"type": "object", "description": f"use {_TOKEN} to log in"},
    {"type": "object", "properties": {"a": {"default": _TOKEN}}},
    {"type": "object", "properties": {"a": {"examples": [[{"b": _TOKEN}]]}}},
    {"type": "object", "properties": {_TOKEN: {"type": "string"}}},
    {"type": "object", "x-unknown": {"deep": [_TOKEN]}, "properties": {"a": {}}},
)
_ROOTS = (b"null", b"true", b"3", b'"x"', b"[]", b"[1]", b'[{"type":"object"},{}]')
#: Texts, by what is said of them; None is kept.
_TEXTS: Mapping[Reason | None, tuple[bytes, ...]] = {
    Reason.BAD_ENCODING: (b'{"type": "\xff"}',),
    Reason.NOT_JSON: (b"", b'{"type": "object"} // a comment'),
    Reason.TOO_LARGE: (
        b'{"title": "%b"}' % (b"x" * (17 * 2**20)),
        b'{"enum": [%b1]}' % (b"1," * 1_000_000),
    ),
    Reason.TOO_DEEP: (
        b'{"not":' * 100_000 + b"{}" + b"}" * 100_000,
        # jsonschema-rs takes cubic time and space for identifiers inside identifiers.
        schemas.text(schemas.identifiers_inside_identifiers()),
    ),
    None: (b'{"type": "object", "properties": {"a": {"type": "string"}}}',),
    # A credential anywhere.
    Reason.SECRET: tuple(map(schemas.text, _SECRETS)),
}


@pytest.mark.parametrize("rules", _RULES)
def test_f13_to_f30_a_text_ends_as_its_reason(rules: str) -> None:
    """The worker names each, does not die of it, and never repeats a credential."""
    wanted = {
        text: reason
        for reason, texts in _TEXTS.items()
        # The paper's rules know of none.
        if reason is not Reason.SECRET or rules == "clean"
        for text in texts
    }
    texts = {str(number): text for number, text in enumerate([*wanted, *_ROOTS])}
    outcomes = list(judged(rules, texts).values())
    reasons = [reason_of(each) for each in outcomes]
    assert reasons[: len(wanted)] == list(wanted.values())
    # F19: a root that is no object is no record.
    assert None not in reasons[len(wanted) :]
    assert rules == "paper" or _TOKEN not in json.dumps(
        [each.answer for each in outcomes]
    )


@pytest.mark.parametrize(
    ("rules", "past_64_bits"),
    [
        ("clean", b"18446744073709551617"),
        pytest.param("paper", b"9223372036854775807", marks=pytest.mark.slow),
    ],
)
def test_f17_large_integers_come_through_a_build_exactly(
    rules: str, past_64_bits: bytes
) -> None:
    """What crosses the channel between processes is the author's own text.

    From 2^64 on `paper` has the double that the published edition has.
    """
    integers = b'{"enum": [9007199254740993, %b, 1e2, 1.50]}' % past_64_bits
    named = {"a": b'{"type": "object", "properties": {"a": %b}}' % integers}
    (outcome,) = judged(rules, named).values()
    assert integers.decode() in outcome.answer["record"]["json_schema"]


def test_f20_a_dialect_that_is_none_is_unsupported() -> None:
    """`$schema` of another type or for another language ends the record by name.

    A nested one cannot switch the validators: a record has one dialect.
    """
    reasons = _reasons(schemas.DIALECTS)
    for name in ("schema-uri-0", "schema-uri-3", "schema-uri-9", "schema-uri-19"):
        assert reasons[name] == Reason.UNSUPPORTED_DIALECT
    assert reasons["mixed-drafts"] is None
    record = _named("clean")["mixed-drafts"].answer["record"]
    assert record["dialect"] == "draft-04"
    assert record["json_schema"].count('"$schema"') == 1


def test_f21_f22_references_and_combinations_without_end() -> None:
    """An endless reference is unresolved; a tree, or 3^60 ways through it, is none."""
    reasons = _reasons(schemas.CYCLES)
    for name in ("itself", "itself-below", "two-that-chase"):
        assert reasons[name] == Reason.UNRESOLVED_REFERENCE
    for name in ("a-tree", "billion-anyOf", "billion-allOf", "billion-oneOf"):
        assert reasons[name] is None
    assert reasons["long-chain"] is None


def test_f24_pointers_lead_where_rfc_6901_says_or_nowhere() -> None:
    """Escapes are read; what leads nowhere is named."""
    reasons = list(_reasons(schemas.POINTERS).values())
    assert reasons[0] is reasons[2] is reasons[3] is reasons[10] is None
    for number in (4, 8, 9, 12, 13, 14, 15, 17, 18, 19):
        assert reasons[number] == Reason.UNRESOLVED_REFERENCE
    assert set(reasons[27:31]) == {Reason.INVALID_SCHEMA}


def test_f26_f27_patterns_are_judged_not_run() -> None:
    """Backtracking, exploding and foreign patterns get a verdict like any other."""
    patterns = _reasons(schemas.PATTERNS)
    del patterns["pattern-not-text"]
    assert set(patterns.values()) <= PATTERN_REASONS
    for number in (0, 1, 2):
        assert patterns[f"pattern-{number}"] is None
    for number in (6, 27, 32, 35, 38):
        assert patterns[f"pattern-{number}"] is not None


def test_f29_hostile_names_are_names() -> None:
    """They are kept character by character, and never run as Python source."""
    for name, schema in schemas.NAMES.items():
        outcome = _named("clean")[name]
        assert reason_of(outcome) is None
        assert parse(outcome.answer["record"]["json_schema"].encode()) == schema
    texts = [json.dumps(each) for each in schemas.NAMES.values()]
    program = Program(file=Path(fastjsonschema_worker.__file__))
    with Pool(program, jobs=1, limits=LIMITS, attempts=1) as pool:
        (result,) = pool.run_batches([texts])
    assert {each.ending for each in result.results} == {Ending.OK}


_ITSELF = {"$ref": "#"}


def _holder(item: UntypedJson, **more: UntypedJson) -> dict[str, UntypedJson]:
    return {"type": "object", "properties": {"next": item}, **more}


def _format(name: UntypedJson, type_: str = "string") -> dict[str, UntypedJson]:
    return _holder({"type": type_, "format": name}, required=["next"])


_LISTS = {"type": "array", "items": {"$ref": "#/$defs/a"}, "minItems": 1}
_EITHER = {"oneOf": [{"type": "integer"}, _ITSELF]}
_SHORT = {"type": "string", "minLength": 3, "maxLength": 2}
_NO_NAMES: tuple[UntypedJson, ...] = (5, None, [], {}, True, ["date"])
#: F25 and F28: recursion and `format`, by what becomes of them; None is kept.
_SCHEMAS: Mapping[Reason | None, list[UntypedJson]] = {
    # Every instance would be endless, or nothing meets them for another reason.
    Reason.UNSATISFIABLE: [
        _holder(_ITSELF, required=["next"]),
        {**_LISTS, "$defs": {"a": _LISTS}},
        {"type": "string", "enum": [1]},
        {"type": "object", "minProperties": 3, "maxProperties": 2},
        _holder(_SHORT, required=["next"]),
    ],
    # Every metaschema wants a string: with a draft that is declared, or inferred.
    Reason.INVALID_SCHEMA: [
        {**head, **_format(name)}
        for name in _NO_NAMES
        for head in ({}, {"$schema": schemas.DRAFT_2020_12})
    ],
    None: [
        # Recursion that ends: it may be left off, be null, or be empty.
        _holder(_ITSELF),
        _holder({"anyOf": [_ITSELF, {"type": "null"}]}, required=["next"]),
        _holder({"type": "array", "items": _ITSELF}, required=["next"]),
        {"type": "object", "properties": {"a": _EITHER}, "required": ["a"]},
        # Names that no vocabulary has, and types of which a format says nothing.
        *map(
            _format, ("", "regex", "int32", "x" * 10_000, "\x1b[31m", "DATE", " date")
        ),
        *(
            _format("date-time", type_)
            for type_ in ("integer", "boolean", "null", "object", "array")
        ),
    ],
}


def test_endless_recursion_and_odd_formats_end_as_what_they_are(
    subtests: pytest.Subtests,
) -> None:
    """Proven unsatisfiable, invalid, or kept: none hangs."""
    wanted = {
        schemas.text(schema): reason
        for reason, several in _SCHEMAS.items()
        for schema in several
    }
    found = judged("clean", {text.decode(): text for text in wanted})
    for text, reason in wanted.items():
        with subtests.test(text=text[:200]):
            assert reason_of(found[text.decode()]) == reason
