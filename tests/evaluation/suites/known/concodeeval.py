"""Answers to records of suite concodeeval; few without a witness."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from evaluation.suites.concodeeval.representations import write_sample
from evaluation.suites.concodeeval.suite import ConcodeSettings, Output, read_fields
from tests.evaluation.suites.known_answers import KnownAnswer, first_witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from evaluation.core.records import Record

#: Texts without a value, by format.
_HOSTILE: Final = {
    "json": {
        "[NaN]": "not_json",
        "[" * 999 + "]" * 999: "too_deep",
        '{"a": 1, "a": 2}': "duplicate_name",
    },
    "yaml": {
        "- &a 1\n- *a": "yaml_alias",
        "!!python/name:os.system ''": "yaml_tag",
        "a: 1\na: 2": "duplicate_name",
    },
    "xml": {
        "<!DOCTYPE a><a/>": "xml_doctype",
        "<x type='dict'><a type='int'>1</a><a/></x>": "duplicate_name",
    },
}
#: Values that most schemas of their root type refuse.
_UNLIKELY: Final[dict[str, tuple[Json, ...]]] = {
    "number": (-1, 10**9, 0.001),
    "string": ("", "?", "?" * 999),
    "array": ([], [None] * 999),
    "object": ({}, {"nothing": None}),
}


def _fenced(text: str, expected: str = "", because: str = "") -> KnownAnswer:
    return KnownAnswer(
        kind=expected or "reference",
        text=f"```\n{text}\n```",
        expected=expected,
        because=because,
    )


def known_answers(record: Record, settings: ConcodeSettings) -> Iterator[KnownAnswer]:
    """Yield right answers and wrong ones of each class; few without a witness."""
    fields = read_fields(record)
    kind = "api_error"
    yield KnownAnswer(kind=kind, text=None, error="HTTP 500", expected=kind)
    is_default = settings.reading == "recommended"
    # The published scripts leave thinking in the answer.
    for text in (None, " \n", "<think>yes" if is_default else ""):
        yield KnownAnswer(kind="no_answer", text=text, expected="no_answer")
    if fields.task == "validation":
        wrong = "no" if fields.label == "yes" else "yes"
        yield _fenced(fields.label)
        yield _fenced(wrong, "wrong_answer", f"{wrong} where {fields.label} is right")
        yield _fenced("maybe", "unclear", "neither yes nor no")
        return
    if is_default or fields.output != "xml":
        yield from _known_samples(fields.schema, fields.output, record.dialect)
    yield KnownAnswer(kind="no_fence", text="[1]", expected="no_fence")
    yield _fenced("", "no_answer")
    yield _fenced("[<a>", "syntax")
    for text, expected in _HOSTILE[fields.output].items():
        if is_default or expected != "duplicate_name":
            yield _fenced(text, expected)


def _known_samples(schema: str, output: Output, dialect: str) -> Iterator[KnownAnswer]:
    """Yield an accepted sample, a rejected one, and one with a wrong root."""
    root = json.loads(schema).get("type")
    for compiled, value in first_witness(schema, dialect):
        # XML has no control characters.
        if output == "xml" and "\\u00" in json.dumps(value):
            continue
        yield _fenced(write_sample(value, output))
        for sample in _UNLIKELY.get(str(root), ()):
            if not compiled.is_valid_without_formats(sample):
                yield _fenced(write_sample(sample, output), "violation")
                break
    if isinstance(root, str):
        wrong = write_sample([] if root == "object" else {}, output)
        yield _fenced(wrong, "wrong_root")
