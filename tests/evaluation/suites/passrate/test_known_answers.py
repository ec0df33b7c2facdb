"""The suite tests itself: right answers pass, each mutated one fails as intended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, TypeGuard

import msgspec
import pytest

from curation.core.documents import Rejected
from curation.instances.constraints.interpretations import read_schema
from curation.instances.near_misses.search import find_near_misses
from curation.instances.witnesses.search import Budget, find_witnesses
from evaluation.asking.request import choose_suite
from evaluation.core.records import Record
from evaluation.suites.passrate.scorer import undeclared_members
from evaluation.suites.passrate.settings import FailureClass, PassrateSettings
from tests.evaluation.suites.known_answers import KnownAnswer, unexpected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json, UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.model import Witness
    from evaluation.asking.request import SuiteChoice


#: Witnesses that are made of one schema, and near misses of them.
_WITNESSES: Final = 3
_NEAR_MISSES: Final = 6
_EXTRA: Final = "undeclared_7f3a"
#: Keywords of a schema object beside which nothing else decides about its members.
_PLAIN: Final = frozenset(
    {
        "$schema",
        "$id",
        "$defs",
        "definitions",
        "title",
        "description",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "default",
        "examples",
    }
)
#: Keywords whose near misses are members that nothing declares, or are not asserted.
_ON_MEMBERS: Final = frozenset(
    {"additionalProperties", "unevaluatedProperties", "propertyNames"}
)
_NOT_ASSERTED: Final = frozenset(
    {"format", "contentEncoding", "contentMediaType", "mixed", ""}
)

#: Keywords whose branches are looked into: the reason names what fails inside.
_OF_BRANCHES: Final = frozenset({"anyOf", "oneOf"})


def known_answers(record: Record, settings: PassrateSettings) -> Iterator[KnownAnswer]:
    """Yield right and wrong answers to a record; none where no witness is found."""
    if record.schema is None:
        return
    compiled = read_schema(record.schema, record.dialect)
    if isinstance(compiled, Rejected):
        return
    witnesses = find_witnesses(compiled, 0, Budget(count=_WITNESSES)).witnesses
    strict = settings.mode == "strict"
    kept = [
        witness
        for witness in witnesses
        if not (strict and undeclared_members(compiled, witness.value))
    ]
    for witness in kept:
        yield from _right(_text(witness.value))
    if not kept:
        return
    value = max((witness.value for witness in kept), key=lambda one: len(_text(one)))
    yield from _no_answer(_text(value))
    yield from _not_json(value)
    yield from _inventions(compiled, value, settings)
    yield from _violations(compiled, kept)


def _text(value: Json) -> str:
    """Return a text of several lines, as models write it."""
    return json.dumps(value, indent=2)


def _right(text: str) -> Iterator[KnownAnswer]:
    """Yield an answer that passes in every dress that cleaning takes off."""
    for kind, dressed in (
        ("reference", text),
        ("white space around", f"\n\n{text}\n\n"),
        ("in a fence", f"```json\n{text}\n```"),
        ("in a fence without a language", f"```\n{text}\n```"),
        ("after a thought", f"<think>\nIt has {{ and }}.\n</think>\n\n{text}"),
        ("after a thought without its first tag", f"Well, so be it.\n</think>\n{text}"),
        (
            "in the final channel",
            f"<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>{text}",
        ),
        ("with an end token", f"{text}<|im_end|>"),
    ):
        yield KnownAnswer(kind=kind, text=dressed)
    yield KnownAnswer(kind="thought apart", text=text, reasoning='{"not": "judged"}')


def _no_answer(text: str) -> Iterator[KnownAnswer]:
    """Yield what holds no answer at all."""
    empty, refusal = FailureClass.EMPTY, FailureClass.REFUSAL
    yield KnownAnswer(kind="null", text=None, expected=empty, because="no text")
    yield KnownAnswer(kind="blank", text=" \n", expected=empty, because="no text")
    yield KnownAnswer(kind="empty fence", text="```json\n```", expected=empty)
    yield KnownAnswer(
        kind="thought without end",
        text=f"<think>\n{text}",
        expected=empty,
        because="thinking",
    )
    yield KnownAnswer(
        kind="thought alone",
        text="",
        reasoning=text,
        expected=empty,
        because="thinking",
    )
    yield KnownAnswer(
        kind="thought until the budget",
        text=f"<think>\n{text}",
        finish="length",
        expected=FailureClass.TRUNCATED,
        because="budget",
    )
    yield KnownAnswer(
        kind="refused in words",
        text="I'm sorry, but I can't help with that.",
        expected=refusal,
        because="begins",
    )
    yield KnownAnswer(
        kind="refused by the server",
        text="",
        finish="content_filter",
        expected=refusal,
        because="content_filter",
    )
    yield KnownAnswer(
        kind="server error",
        text=None,
        error="HTTP 500: try later",
        expected=FailureClass.API_ERROR,
        because="HTTP 500",
    )


def _not_json(value: Json) -> Iterator[KnownAnswer]:
    """Yield what is no JSON: each breaks one rule of RFC 8259."""
    if not isinstance(value, dict | list):
        return
    text = _text(value)
    syntax = FailureClass.SYNTAX_ERROR
    for kind, broken, because in (
        ("last bracket missing", text[:-1], "not JSON"),
        ("cut in the middle", f"{text[: len(text) // 2]}\x00", "not JSON"),
        ("a word before", f"Here it is: {text}", "not JSON"),
        ("a word after", f"{text}\nThat is all.", "Extra data"),
        ("two answers", f"{text}\n{text}", "Extra data"),
        ("a bracket too many", f"{text}}}", "Extra data"),
        ("a comma at the end", f"[{text},]", "not JSON"),
        ("a comment", f"// the answer\n{text}", "not JSON"),
        ("a fence in a fence", f"```json\n```json\n{text}\n```\n```", "not JSON"),
        ("single quotes", "{'a': 1}", "not JSON"),
        ("a name without quotes", "{a: 1}", "not JSON"),
        ("Python's words", '{"a": None}', "not JSON"),
        ("a wrong escape", '{"a": "\\x"}', "escape"),
        ("a line's end in a string", '{"a": "b\nc"}', "control character"),
        ("a number with a sign before", '{"a": +1}', "not JSON"),
        ("a zero before a number", '{"a": 01}', "not JSON"),
        ("NaN", f"[{text}, NaN]", "NaN"),
        ("infinity", f"[{text}, -Infinity]", "Infinity"),
        ("a number beyond doubles", f"[{text}, 1e999]", "too large"),
        ("half a surrogate pair", '{"a": "\\ud83d"}', "surrogate"),
        ("nested without end", "[" * 3000 + "]" * 3000, "levels"),
    ):
        yield KnownAnswer(kind=kind, text=broken, expected=syntax, because=because)
    yield KnownAnswer(
        kind="the budget used up",
        text=text[:-1],
        finish="length",
        expected=FailureClass.TRUNCATED,
        because="not JSON",
    )


def _inventions(
    compiled: CompiledSchema, value: Json, settings: PassrateSettings
) -> Iterator[KnownAnswer]:
    """Yield an answer with a member too many, where it is plain what that is."""
    holders: list[tuple[str, Json, Json]] = [("", compiled.value, value)]
    root = compiled.value
    if isinstance(value, dict) and _is_plain(root):
        holders += [
            (name, root["properties"][name], member)
            for name, member in value.items()
            if name in root["properties"]
        ]
    for name, schema, inner in holders:
        if not isinstance(inner, dict) or not _is_plain(schema):
            continue
        closed = "additionalProperties" in schema
        if not closed and settings.mode == "schema":
            continue
        more: dict[str, Json] = {**inner, _EXTRA: "?"}
        changed = {**value, name: more} if name and isinstance(value, dict) else more
        yield KnownAnswer(
            kind=f"an undeclared member{' inside' if name else ''}"
            f"{', forbidden' if closed else ''}",
            text=_text(changed),
            expected=FailureClass.HALLUCINATION,
            because=_EXTRA,
        )


def _is_plain(schema: Json) -> TypeGuard[dict[str, UntypedJson]]:
    """Return whether only `properties` and `additionalProperties` name members."""
    return (
        isinstance(schema, dict)
        and schema.keys() <= _PLAIN
        and bool(schema.get("properties"))
        and schema.get("additionalProperties", False) is False
    )


def _violations(
    compiled: CompiledSchema, witnesses: list[Witness]
) -> Iterator[KnownAnswer]:
    """Yield near misses: instances that one keyword refuses."""
    left_out = _NOT_ASSERTED | _ON_MEMBERS
    if any(keyword in json.dumps(compiled.value) for keyword in _ON_MEMBERS):
        # The nearest of several branches may refuse nothing but a member too many.
        left_out |= _OF_BRANCHES
    for missed in find_near_misses(compiled, witnesses, 0, _NEAR_MISSES):
        if missed.keyword in left_out:
            continue
        yield KnownAnswer(
            kind=f"violates {missed.keyword}",
            text=_text(missed.value),
            expected=FailureClass.SCHEMA_VIOLATION,
            because="" if missed.keyword in _OF_BRANCHES else f"[{missed.keyword}]",
        )


_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 9},
        "size": {"enum": ["s", "m"]},
        "parts": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        "place": {
            "type": "object",
            "properties": {"row": {"type": "integer", "minimum": 1}},
            "required": ["row"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "size", "parts", "place"],
}
_OPEN = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "uniqueItems": True}}}


@pytest.mark.parametrize("mode", ["strict", "schema"])
def test_every_known_answer_gets_its_class(mode: str) -> None:
    """Over 20 kinds of mutated answers fail, and every right one passes."""
    chosen = choose_suite("passrate", {"mode": mode})
    records = [
        Record(id=f"r{place}", schema=json.dumps(schema))
        for place, schema in enumerate((_SCHEMA, _OPEN))
    ]
    pairs = _pairs(chosen, records)
    assert unexpected(chosen, pairs) == []
    failing = {known.kind for _, known in pairs if known.expected}
    assert len(failing) >= 38
    assert {"reference", "an undeclared member inside, forbidden"} <= {
        known.kind for _, known in pairs
    }


def _pairs(
    chosen: SuiteChoice, records: list[Record]
) -> list[tuple[Record, KnownAnswer]]:
    settings = msgspec.convert(chosen.settings, PassrateSettings, from_attributes=True)
    return [
        (record, known)
        for record in records
        for known in known_answers(record, settings)
    ]


def test_a_schema_of_ones_own_without_a_dialect_is_scored() -> None:
    """A file that declares no `$schema` has the dialect that the benchmark decides."""
    chosen = choose_suite("passrate", {})
    record = Record(id="r", schema=json.dumps(_SCHEMA), dialect="")
    pairs = _pairs(chosen, [record])
    assert len(pairs) > 5
    assert unexpected(chosen, pairs) == []
