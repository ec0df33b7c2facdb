"""F13 to F30: texts and schemas made to hurt, in a worker and in the search."""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Reason
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.witnesses.search import find_witnesses
from curation.json.text import parse
from curation.pipeline import process_document
from curation.pipeline.process_document import (
    MAX_DETAIL,
    BuildSetup,
    DocumentRequest,
    LibraryFiles,
)
from curation.references.verdicts import python_verdict, rust_verdict
from curation.schema.dialects import DIALECTS
from curation.validation import fastjsonschema_check
from curation.workers.limits import Ending, Limits, ProcessResult
from curation.workers.pool import Pool
from curation.workers.process import Program
from tests.curation.rules.documents_made import PROVENANCE, raw_document
from tests.hostile import schemas
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import UntypedJson


RULES = ("clean", "paper")
#: Seconds for one schema on a busy machine; a hang takes for ever.
LIMITS = Limits(seconds=60)
#: What a rule may say of a pattern that is hostile or none.
PATTERN_REASONS = {None, Reason.BAD_PATTERN, Reason.VALIDATORS_DISAGREE}
#: Where the second rule set is another way through the same code.
_RULES = first_fast(1, RULES)


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
        assert len(answer["rejected"]["detail"]) <= MAX_DETAIL


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


_PAST_64_BITS = (("clean", b"18446744073709551617"), ("paper", b"9223372036854775807"))


@pytest.mark.parametrize(("rules", "past_64_bits"), first_fast(1, _PAST_64_BITS))
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


@pytest.mark.slow
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
    program = Program(module=fastjsonschema_check.__name__)
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


@dataclass
class Trap:
    """A server and a named pipe that nobody must touch."""

    port: int
    pipe: Path
    hits: list[str] = field(default_factory=list)

    def uris(self) -> list[str]:
        """Return references that lead to the trap, or would lead elsewhere."""
        place = f"127.0.0.1:{self.port}"
        return [
            f"http://{place}/a.json",
            f"http://{place}/a.json#/definitions/b",
            f"https://{place}/a.json",
            f"//{place}/a.json",
            f"http://user:word@{place}/draft-07/schema",
            f"HTTP://LOCALHOST:{self.port}/a.json",
            f"ftp://{place}/a.json",
            self.pipe.as_uri(),
            f"file:{self.pipe}",
            f"file://localhost{self.pipe}",
            str(self.pipe),
            f"../../../../../../../..{self.pipe}",
            "data:application/json,%7B%7D",
            "jar:file:/a.jar!/b",
            "\\\\127.0.0.1\\share",
        ]


@contextmanager
def _listening(pipe: Path) -> Iterator[Trap]:
    """Listen on loopback and at a named pipe, and note whoever comes."""
    os.mkfifo(pipe)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        trap = Trap(port=server.getsockname()[1], pipe=pipe)
        stop = threading.Event()

        def wait() -> None:
            while not stop.is_set():
                try:
                    writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
                except OSError:
                    pass
                else:
                    os.close(writer)
                    trap.hits.append("the pipe was read")
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    trap.hits.append(str(connection.recv(200)))

        thread = threading.Thread(target=wait)
        thread.start()
        try:
            yield trap
        finally:
            stop.set()
            thread.join()


def _leading_to(uri: str) -> Iterator[UntypedJson]:
    """Yield schemas that name a URI wherever a validator might follow it."""
    base = {"type": "object", "properties": {"a": {"type": "string"}}}
    yield {**base, "$ref": uri}
    yield {**base, "$schema": uri}
    yield {**base, "$id": uri, "properties": {"a": {"$ref": "b.json"}}}
    yield {**base, "id": uri, "properties": {"a": {"$ref": "#/definitions/b"}}}
    yield {"type": "object", "properties": {"a": {"$ref": uri}}}
    for draft in DIALECTS:
        yield {
            "$schema": draft.uri,
            "type": "object",
            "properties": {"a": {"$ref": uri}, "b": {"$schema": uri}},
            "definitions": {"unused": {"$ref": uri}},
            "$defs": {"d": {"$dynamicRef": uri}, "r": {"$recursiveRef": uri}},
            "$vocabulary": {uri: True},
        }


def test_the_trap_notices_whoever_comes(tmp_path: Path) -> None:
    """A visit to the server or the pipe would be seen."""
    with _listening(tmp_path / "pipe") as trap:
        with socket.create_connection(("127.0.0.1", trap.port)) as connection:
            connection.sendall(b"GET /")
        (tmp_path / "pipe").read_bytes()
    assert {"the pipe was read", str(b"GET /")} <= {*trap.hits}


@pytest.mark.parametrize("rules", _RULES)
def test_f23_no_rule_follows_a_reference_out(rules: str, tmp_path: Path) -> None:
    """No `$ref`, `$schema` or `$id` makes a build ask a host or read a file."""
    with _listening(tmp_path / "pipe") as trap:
        named = {
            f"{uri} {number}": schemas.text(schema)
            for uri in trap.uris()
            for number, schema in enumerate(_leading_to(uri))
        }
        outcomes = judged(rules, named)
    assert trap.hits == []
    assert {each.ending for each in outcomes.values()} == {Ending.OK}


@pytest.mark.slow
def test_f23_no_validator_follows_a_reference_out(tmp_path: Path) -> None:
    """jsonschema, jsonschema-rs and fastjsonschema, as they are called here."""
    with _listening(tmp_path / "pipe") as trap:
        found = [each for uri in trap.uris() for each in _leading_to(uri)]
        for schema in found:
            for dialect in DIALECTS:
                python_verdict(schema, dialect, thorough=True)
                rust_verdict(schema, dialect)
        program = Program(module=fastjsonschema_check.__name__)
        limits = replace(LIMITS, seconds=20)
        with Pool(program, jobs=1, limits=limits, attempts=1) as pool:
            for result in pool.run_batches([[json.dumps(each)] for each in found]):
                assert trap.hits == []
                assert result.results[0].ending is Ending.OK
    assert trap.hits == []


def test_f23_a_reference_out_of_the_source_is_named() -> None:
    """It ends the record as `remote_reference`, whatever its scheme."""
    uris = ("http://127.0.0.1:9/a.json", "file:///etc/passwd", "data:,x", "../a.json")
    named = {
        uri: schemas.text({"type": "object", "properties": {"a": {"$ref": uri}}})
        for uri in uris
    }
    reasons = {reason_of(each) for each in judged("clean", named).values()}
    assert reasons == {Reason.REMOTE_REFERENCE}


def _either(index: int) -> UntypedJson:
    names = (f"a{index}", f"b{index}")
    return {"anyOf": [{"required": [each]} for each in names]}


def _doubling(levels: int) -> UntypedJson:
    """Return a schema whose full value has 2 ** levels leaves."""
    definitions: dict[str, UntypedJson] = {f"d{levels}": {"type": "null"}}
    for level in range(levels):
        below = {"$ref": f"#/definitions/d{level + 1}"}
        definitions[f"d{level}"] = {
            "type": "object",
            "required": ["l", "r"],
            "properties": {"l": below, "r": below},
        }
    return {"$ref": "#/definitions/d0", "definitions": definitions}


_FORTY: dict[str, UntypedJson] = {
    "type": "object",
    "allOf": list(map(_either, range(40))),
}
_LETTERS = {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True}
_HOSTILE: dict[str, UntypedJson] = {
    "exponential, in reach": _FORTY,
    "exponential, out of reach": {**_FORTY, "maxProperties": 39},
    "exponential oneOf": {
        "type": "object",
        "allOf": [
            {"oneOf": [{"required": [each]}, {"required": ["z"]}]}
            for each in "abcdefgh"
        ],
        "not": {"required": ["z"]},
        "maxProperties": 7,
    },
    "doubling": _doubling(40),
    "doubling, in reach": _doubling(6),
    "two values for three places": {**_LETTERS, "minItems": 3},
    "many values": {"enum": list(range(100_000))},
    "values nobody admits": {"enum": list(range(50_000)), "type": "string"},
    "references in a circle": schemas.CYCLES["two-that-chase"],
    "a negation of itself": {"not": {"$ref": "#"}},
    "two that deny each other": {
        "definitions": {
            "a": {"not": {"$ref": "#/definitions/b"}},
            "b": {"not": {"$ref": "#/definitions/a"}},
        },
        "$ref": "#/definitions/a",
    },
    "giant bounds": {
        "type": "object",
        "required": ["a", "b", "c"],
        "properties": {
            "a": {"type": "array", "maxItems": 10**9},
            "b": {"type": "string", "maxLength": 10**9},
            "c": {"type": "number", "minimum": -1e308, "maximum": 1e308},
        },
    },
    "many required": {"type": "object", "required": [f"n{n}" for n in range(3_000)]},
    "many optional": {
        "type": "object",
        "properties": {f"n{index}": {"$ref": "#"} for index in range(2_000)},
    },
    "endless array": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
    "deep": {"type": "array", "contains": {"contains": {"contains": {"contains": {}}}}},
}


#: A second or more.
_SLOW = ("many optional", "exponential, out of reach", "doubling")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in _SLOW))
        for name in _HOSTILE
    ],
)
@pytest.mark.parametrize("dialect", first_fast(1, ["2020-12", "draft-07"]))
def test_ends_with_witnesses_or_an_obstacle(name: str, dialect: str) -> None:
    """No schema hangs: there is a witness, or a named reason that there is none."""
    found = find_witnesses(CompiledSchema.from_json(_HOSTILE[name], dialect))
    assert found.witnesses or found.failure


def _request(name: str, content: bytes) -> DocumentRequest:
    provenance = replace(PROVENANCE, source="github", path=f"{name}.json")
    raw = raw_document(content, config="Github", unique_id=name, provenance=provenance)
    return DocumentRequest(0, raw)


def judged(
    rules: str, named: Mapping[str, bytes], limits: Limits = LIMITS
) -> dict[str, ProcessResult]:
    """Return what the worker of a build makes of each document."""
    setup = BuildSetup(rules=rules, libraries=(LibraryFiles(files="", uris={}),))
    program = Program(module=process_document.__name__, setup=setup)
    units = [_request(name, content) for name, content in named.items()]
    batches = [units[start : start + 32] for start in range(0, len(units), 32)]
    jobs = min(2, len(batches))
    with Pool(program, jobs=jobs, limits=limits, attempts=1) as pool:
        results = sorted(pool.run_batches(batches), key=lambda each: each.index)
    outcomes = [each for result in results for each in result.results]
    return dict(zip(named, outcomes, strict=True))


def reason_of(outcome: ProcessResult) -> str | None:
    """Return the reason of a rejection; None where the document is kept."""
    assert outcome.ending is Ending.OK, outcome
    rejected = outcome.answer["rejected"]
    return rejected["reason"] if rejected else None
