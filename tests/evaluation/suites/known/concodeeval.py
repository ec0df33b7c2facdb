"""Answers to records of suite concodeeval; few without a witness."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from evaluation.suites.concodeeval.representations import write_sample
from evaluation.suites.concodeeval.suite import ConcodeSettings, Output, fields_of
from tests.evaluation.suites.known_answers import KnownAnswer, first_witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from evaluation.core.records import Record

#: Texts without a value, by format.
_HOSTILE: Final = {
    "json": (
        ("[NaN]", "not_json"),
        ("[" * 999 + "]" * 999, "too_deep"),
    ),
    "yaml": (
        ("- &a 1\n- *a", "yaml_alias"),
        ("!!python/name:os.system ''", "yaml_tag"),
    ),
    "xml": (("<!DOCTYPE a><a/>", "xml_doctype"),),
}


#: Texts with a repeated member.
_REPEATED: Final = {
    "json": '{"a": 1, "a": 2}',
    "yaml": "a: 1\na: 2",
    "xml": "<all type='dict'><a type='int'>1</a><a type='int'>2</a></all>",
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
    yield KnownAnswer(
        kind="api_error", text=None, error="HTTP 500", expected="api_error"
    )
    # The published scripts leave thinking in the answer.
    unclosed = "<think>yes" if settings.reading == "recommended" else ""
    for text in (None, " \n", unclosed):
        yield KnownAnswer(kind="no_answer", text=text, expected="no_answer")
    if fields.task == "validation":
        wrong = "no" if fields.label == "yes" else "yes"
        for text, expected, because in (
            (fields.label, "", ""),
            (wrong, "wrong_answer", f"{wrong} where {fields.label} is right"),
            ("maybe", "unclear", "neither yes nor no"),
        ):
            yield KnownAnswer(
                kind=expected or "reference",
                text=f"```\n{text}\n```",
                expected=expected,
                because=because,
            )
        return
    recommended = settings.reading == "recommended"
    if recommended or fields.output != "xml":
        yield from _known_samples(fields.schema, fields.output, record.dialect)
        if recommended:
            twice = _REPEATED[fields.output]
            kind = "duplicate_name"
            yield KnownAnswer(kind=kind, text=f"```\n{twice}\n```", expected=kind)
    for text, expected in (
        ("[1]", "no_fence"),
        ("```\n\n```", "no_answer"),
        ("```\n[<a>\n```", "syntax"),
    ):
        yield KnownAnswer(kind=expected, text=text, expected=expected)
    for hostile, expected in _HOSTILE[fields.output]:
        text = f"```\n{hostile}\n```"
        yield KnownAnswer(kind=expected, text=text, expected=expected)


def _known_samples(schema: str, output: Output, dialect: str) -> Iterator[KnownAnswer]:
    """Yield an accepted sample, a rejected one, and one with a wrong root."""
    violation = "violation"
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
        expected = "wrong_root"
        yield KnownAnswer(kind=expected, text=f"```\n{wrong}\n```", expected=expected)
