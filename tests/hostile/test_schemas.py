"""F20 to F30: schemas made to hurt, through the real rule sets, in a real worker."""

from __future__ import annotations

import json
from dataclasses import replace
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
from tests.hostile import jumble, schemas
from tests.hostile.judging import LIMITS, RULES, judged, reason_of
from tests.hostile.patterns import PATTERNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import UntypedJson

#: What a rule may say of a pattern that is hostile or none.
PATTERN_REASONS = {None, Reason.BAD_PATTERN, Reason.VALIDATORS_DISAGREE}


@cache
def _named(rules: str) -> dict[str, ProcessResult]:
    texts = {name: schemas.text(each) for name, each in schemas.NAMED.items()}
    return judged(rules, texts)


def _reasons(rules: str, named: Mapping[str, UntypedJson]) -> dict[str, str | None]:
    return {name: reason_of(_named(rules)[name]) for name in named}


@pytest.mark.parametrize(
    "rules", ["clean", pytest.param("paper", marks=pytest.mark.slow)]
)
def test_every_hostile_schema_ends_as_a_record_or_a_reason(
    rules: str, subtests: pytest.Subtests
) -> None:
    """No rule raises, crashes, hangs or outgrows its memory on it."""
    for name in schemas.NAMED:
        with subtests.test(name=name):
            outcome = _named(rules)[name]
            assert outcome.ending is Ending.OK, outcome
            answer = outcome.answer
            assert (answer["record"] is None) is (answer["rejected"] is not None)
            if answer["rejected"]:
                assert len(answer["rejected"]["detail"]) <= LONGEST_DETAIL


#: Texts that never become schemas, and what is said of them.
TEXTS = {
    "bytes": (b'{"type": "\xff"}', Reason.BAD_ENCODING),
    "utf-16": ('{"type": "object"}'.encode("utf-16"), Reason.BAD_ENCODING),
    "surrogate": (rb'{"title": "\ud800"}', Reason.BAD_ENCODING),
    "comment": (b'{"type": "object"} // a comment', Reason.NOT_JSON),
    "nan": (b'{"maximum": NaN}', Reason.NOT_JSON),
    "nothing": (b"", Reason.NOT_JSON),
    "digits": (b'{"maximum": %b}' % (b"9" * 5_000), Reason.NUMBER_OUT_OF_RANGE),
    "huge": (b'{"maximum": 1e999}', Reason.NUMBER_OUT_OF_RANGE),
    "deep": (b'{"not":' * 100_000 + b"{}" + b"}" * 100_000, Reason.TOO_DEEP),
    "long": (b'{"title": "%b"}' % (b"x" * (17 * 2**20)), Reason.TOO_LARGE),
    "wide": (b'{"enum": [%b1]}' % (b"1," * 1_000_000), Reason.TOO_LARGE),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\n", Reason.LFS_POINTER),
}


@pytest.mark.parametrize("rules", RULES)
def test_f13_to_f18_texts_that_are_no_json_end_as_their_reason(rules: str) -> None:
    """The worker names each, within the limits and without dying of it."""
    outcomes = judged(rules, {name: text for name, (text, _) in TEXTS.items()})
    reasons = {name: reason_of(each) for name, each in outcomes.items()}
    assert reasons == {name: reason for name, (_, reason) in TEXTS.items()}


@pytest.mark.parametrize("rules", RULES)
def test_f19_a_root_that_is_no_object_is_no_record(rules: str) -> None:
    """Scalars, booleans and arrays of several end as a reason."""
    texts = (b"null", b"true", b"3", b'"x"', b"[]", b"[1]", b'[{"type":"object"},{}]')
    named = {str(number): text for number, text in enumerate(texts)}
    reasons = [reason_of(each) for each in judged(rules, named).values()]
    assert None not in reasons


@pytest.mark.parametrize(
    ("rules", "past_64_bits"),
    [("clean", b"18446744073709551617"), ("paper", b"9223372036854775807")],
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


@pytest.mark.parametrize("rules", RULES)
def test_what_a_validator_cannot_do_in_time_is_counted_before(rules: str) -> None:
    """jsonschema-rs takes cubic time and space for identifiers inside identifiers."""
    named = {
        "slow": schemas.text(schemas.identifiers_inside_identifiers()),
        "next": b'{"type": "object", "properties": {"a": {"type": "string"}}}',
    }
    outcomes = judged(rules, named)
    assert reason_of(outcomes["slow"]) == Reason.TOO_DEEP
    assert reason_of(outcomes["next"]) is None


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
def test_keywords_with_values_of_any_kind_are_no_fault(rules: str) -> None:
    """Each keyword of each draft, with values that it never has."""
    texts = {name: schemas.text(each) for name, each in jumble.misplaced()}
    failed = {
        name: each.detail
        for name, each in judged(rules, texts).items()
        if each.ending is not Ending.OK
    }
    assert failed == {}


def test_f20_a_dialect_that_is_none_is_unsupported() -> None:
    """`$schema` of another type or for another language ends the record by name."""
    reasons = _reasons("clean", schemas.DIALECTS)
    for name in ("schema-uri-0", "schema-uri-3", "schema-uri-9", "schema-uri-19"):
        assert reasons[name] == Reason.UNSUPPORTED_DIALECT
    assert reasons["mixed-drafts"] is None


def test_f20_a_record_has_one_dialect() -> None:
    """A nested `$schema` cannot switch the validators."""
    record = _named("clean")["mixed-drafts"].answer["record"]
    assert record["dialect"] == "draft-04"
    assert record["json_schema"].count('"$schema"') == 1


def test_f21_references_that_chase_each_other_end_the_record() -> None:
    """An endless reference is unresolved; a tree is none."""
    reasons = _reasons("clean", schemas.CYCLES)
    for name in ("itself", "itself-below", "two-that-chase"):
        assert reasons[name] == Reason.UNRESOLVED_REFERENCE
    assert reasons["a-tree"] is None


def test_f22_exponential_combinations_are_never_expanded() -> None:
    """Three to the sixtieth ways through sixty lines cost nothing special."""
    for name in ("billion-anyOf", "billion-allOf", "billion-oneOf", "long-chain"):
        text = schemas.text(schemas.CYCLES[name])
        (outcome,) = judged("clean", {name: text}, replace(LIMITS, seconds=15)).values()
        assert reason_of(outcome) is None


def test_f24_pointers_lead_where_rfc_6901_says_or_nowhere() -> None:
    """Escapes are read; what leads nowhere is named."""
    reasons = list(_reasons("clean", schemas.POINTERS).values())
    assert reasons[0] is reasons[2] is reasons[3] is reasons[10] is None
    for number in (4, 8, 9, 12, 13, 14, 15, 17, 18, 19):
        assert reasons[number] == Reason.UNRESOLVED_REFERENCE
    assert set(reasons[27:31]) == {Reason.INVALID_SCHEMA}


def test_f26_f27_patterns_are_judged_not_run() -> None:
    """Backtracking, exploding and foreign patterns get a verdict like any other."""
    patterns = {
        name: reason
        for name, reason in _reasons("clean", PATTERNS).items()
        if name != "pattern-not-text"
    }
    assert set(patterns.values()) <= PATTERN_REASONS
    for number in (0, 1, 2):
        assert patterns[f"pattern-{number}"] is None
    for number in (6, 27, 32, 35, 38):
        assert patterns[f"pattern-{number}"] is not None


def test_f29_hostile_names_are_names() -> None:
    """They are kept character by character."""
    for name, schema in schemas.NAMES.items():
        outcome = _named("clean")[name]
        assert reason_of(outcome) is None
        assert parse(outcome.answer["record"]["json_schema"].encode()) == schema


def test_f29_hostile_names_do_not_break_out_of_generated_code() -> None:
    """No name in the Python source that fastjsonschema writes is run as such."""
    texts = [json.dumps(each) for each in schemas.NAMES.values()]
    program = Program(file=Path(fastjsonschema_worker.__file__))
    with Pool(program, jobs=1, limits=LIMITS, attempts=1) as pool:
        (result,) = pool.run_batches([texts])
    assert {each.ending for each in result.results} == {Ending.OK}


TOKEN = "ghp_" + "q7Vn2LkT9xZb4RmW8cYd" + "J3fHs6Gp1AuE5iNo"
SECRETS: Sequence[UntypedJson] = (
    {"type": "object", "description": f"use {TOKEN} to log in"},
    {"type": "object", "properties": {"a": {"default": TOKEN}}},
    {"type": "object", "properties": {"a": {"examples": [[{"b": TOKEN}]]}}},
    {"type": "object", "properties": {TOKEN: {"type": "string"}}},
    {"type": "object", "x-unknown": {"deep": [TOKEN]}, "properties": {"a": {}}},
)


def test_f30_a_credential_anywhere_ends_the_record_and_is_never_repeated() -> None:
    """Nothing that leaves the worker holds the value."""
    named = {str(number): schemas.text(each) for number, each in enumerate(SECRETS)}
    for outcome in judged("clean", named).values():
        assert reason_of(outcome) == Reason.SECRET
        assert TOKEN not in json.dumps(outcome.answer)
