"""Answers to records of suite concodeeval; few without a witness."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from evaluation.suites.concodeeval.representations import write_sample
from evaluation.suites.concodeeval.settings import (
    AnswerClass,
    ConcodeSettings,
    Output,
    TaskName,
    fields_of,
)
from tests.evaluation.suites.known_answers import KnownAnswer, first_witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from evaluation.core.records import Record

#: Texts without a value, by format.
_HOSTILE: Final = {
    Output.JSON: (
        ("[NaN]", AnswerClass.NOT_JSON),
        ("[" * 999 + "]" * 999, AnswerClass.TOO_DEEP),
    ),
    Output.YAML: (
        ("- &a 1\n- *a", AnswerClass.YAML_ALIAS),
        ("!!python/name:os.system ''", AnswerClass.YAML_TAG),
    ),
    Output.XML: (("<!DOCTYPE a><a/>", AnswerClass.XML_DOCTYPE),),
}


#: Texts with a repeated member.
_REPEATED: Final = {
    Output.JSON: '{"a": 1, "a": 2}',
    Output.YAML: "a: 1\na: 2",
    Output.XML: "<all type='dict'><a type='int'>1</a><a type='int'>2</a></all>",
}


#: Values that most schemas of their root type refuse.
_UNLIKELY: Final[dict[str, tuple[Json, ...]]] = {
    "number": (-1, 10**9, 0.001),
    "string": ("", "?", "?" * 999),
    "array": ([], [None] * 999),
    "object": ({}, {"?": None}),
}


def known_answers(record: Record, settings: ConcodeSettings) -> Iterator[KnownAnswer]:
    """Yield right answers and wrong ones of each class; few without a witness."""
    fields = fields_of(record)
    kinds = AnswerClass
    failed = kinds.API_ERROR
    silent = kinds.NO_ANSWER
    yield KnownAnswer(kind=failed, text=None, error="HTTP 500", expected=failed)
    # The published scripts leave thinking in the answer.
    unclosed = "<think>yes" if settings.reading == "recommended" else ""
    for text in (None, " \n", unclosed):
        yield KnownAnswer(kind=silent, text=text, expected=silent)
    if fields.task is TaskName.VALIDATION:
        wrong = "no" if fields.label == "yes" else "yes"
        for text, expected, because in (
            (fields.label, "", ""),
            (wrong, kinds.WRONG_ANSWER, f"{wrong} where {fields.label} is right"),
            ("maybe", kinds.UNCLEAR, "neither yes nor no"),
        ):
            yield KnownAnswer(
                kind=expected or "reference",
                text=f"```\n{text}\n```",
                expected=expected,
                because=because,
            )
        return
    recommended = settings.reading == "recommended"
    if recommended or fields.output is not Output.XML:
        yield from _known_samples(fields.schema, fields.output, record.dialect)
        if recommended:
            twice = _REPEATED[fields.output]
            kind = kinds.DUPLICATE_NAME
            yield KnownAnswer(kind=kind, text=f"```\n{twice}\n```", expected=kind)
    for text, expected in (
        ("[1]", kinds.NO_FENCE),
        ("```\n\n```", silent),
        ("```\n[<a>\n```", kinds.SYNTAX),
    ):
        yield KnownAnswer(kind=expected, text=text, expected=expected)
    for hostile, expected in _HOSTILE[fields.output]:
        text = f"```\n{hostile}\n```"
        yield KnownAnswer(kind=expected, text=text, expected=expected)


def _known_samples(schema: str, output: Output, dialect: str) -> Iterator[KnownAnswer]:
    """Yield an accepted sample, a rejected one, and one with a wrong root."""
    violation = AnswerClass.VIOLATION
    root = json.loads(schema).get("type")
    for compiled, value in first_witness(schema, dialect):
        right = f"```\n{write_sample(value, output)}\n```"
        yield KnownAnswer(kind="reference", text=right)
        for sample in _UNLIKELY.get(str(root), ()):
            if not compiled.is_valid_without_formats(sample):
                text = f"```\n{write_sample(sample, output)}\n```"
                yield KnownAnswer(kind=violation, text=text, expected=violation)
                break
    wrong = write_sample([] if root == "object" else {}, output)
    if isinstance(root, str):
        expected = AnswerClass.WRONG_ROOT
        yield KnownAnswer(kind=expected, text=f"```\n{wrong}\n```", expected=expected)
