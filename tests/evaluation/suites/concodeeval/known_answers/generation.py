"""Answers of task 1 whose verdicts are known: right ones, and wrong ones of many kinds.

A right one is a witness, written by the suite's own converter. A wrong one is a near
miss, which one keyword refuses, or a right one with something done to its text.
"""

from __future__ import annotations

import json
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from curation.instances.dataset.make_instances import make_instances
from evaluation.core.suite import KnownAnswer
from evaluation.suites.concodeeval.representations import write_sample
from evaluation.suites.concodeeval.settings import (
    MAX_CHARACTERS,
    AnswerClass,
    Output,
    SuiteReading,
)
from tests.evaluation.suites.concodeeval.known_answers.hostile import hostile_answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.instances.dataset.make_instances import SchemaInstances
    from evaluation.suites.concodeeval.settings import ConcodeSettings, RecordFields

#: One record in so many gets an answer that is too large.
_SELDOM: Final = 512
#: A value of each type, to stand where another one is asked for.
_OF_TYPE: Final[dict[str, Json]] = {
    "string": "amber",
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


def known_answers(
    fields: RecordFields, dialect: str, settings: ConcodeSettings
) -> Iterator[KnownAnswer]:
    """Yield right and wrong answers to a record; none where no witness is found."""
    made = _instances(fields.schema, dialect)
    witnesses = [row.value for row in made.witnesses]
    if not witnesses:
        return
    schema: Json = json.loads(fields.schema)
    fullest = max(witnesses, key=lambda value: len(json.dumps(value)))
    reads_types = fields.output is not Output.XML or settings.xml == "typed"
    if reads_types:
        yield from _right_ones(witnesses, fullest, fields, settings)
        yield from _wrong_values(schema, made, fields, settings)
    else:
        yield _paper_xml(schema, fullest)
    yield from _wrong_texts(write_sample(fullest, fields.output), settings)
    yield from hostile_answers(fullest, fields.output, settings)
    if zlib.crc32(f"{fields.cell}/{fields.schema_id}".encode()) % _SELDOM == 0:
        yield _wrong("too_large", _fenced("1" * MAX_CHARACTERS), AnswerClass.TOO_LARGE)


@lru_cache(maxsize=1_024)
def _instances(schema: str, dialect: str) -> SchemaInstances:
    """Return the instances of a schema, made once for all of its cells."""
    return make_instances(schema, dialect)


def _right_ones(
    witnesses: list[Json],
    fullest: Json,
    fields: RecordFields,
    settings: ConcodeSettings,
) -> Iterator[KnownAnswer]:
    for value in witnesses:
        text = write_sample(value, fields.output)
        yield KnownAnswer(kind="reference", text=_fenced(text))
    text = write_sample(fullest, fields.output)
    named = f"{_before(settings)}```{fields.output}\n{text}\n```\nIt is valid."
    yield KnownAnswer(kind="fence_with_language", text=named)
    yield KnownAnswer(
        kind="after_thinking", text=f"<think>A ```fence```?</think>\n{_fenced(text)}"
    )
    yield KnownAnswer(kind="first_of_two", text=f"{_fenced(text)}\n{_fenced('!')}")


def _wrong_values(
    schema: Json, made: SchemaInstances, fields: RecordFields, settings: ConcodeSettings
) -> Iterator[KnownAnswer]:
    """Yield values that the schema refuses, each with the keyword that does."""
    for row in made.near_misses:
        if row.keyword == "format" and not settings.formats:
            continue
        at_root = row.keyword == "type" and row.schema_pointer == "/type"
        if at_root and row.value is None and settings.reading is SuiteReading.PAPER:
            continue
        yield _wrong(
            f"breaks_{row.keyword}",
            _fenced(write_sample(row.value, fields.output)),
            AnswerClass.WRONG_ROOT if at_root else AnswerClass.VIOLATION,
            because=f"{row.keyword} at ",
        )
    root = schema.get("type") if isinstance(schema, dict) else None
    other = next(
        (name for name in _OF_TYPE if isinstance(root, str) and name != root), ""
    )
    if other:
        yield _wrong(
            "of_another_type",
            _fenced(write_sample(_OF_TYPE[other], fields.output)),
            AnswerClass.WRONG_ROOT,
            because="type at the root",
        )


def _paper_xml(schema: Json, value: Json) -> KnownAnswer:
    """Return the witness with what becomes of it where XML has no types.

    Whatever is written is read as an object with one member, `all`.
    """
    text = _fenced(write_sample(value, Output.XML))
    root = schema.get("type") if isinstance(schema, dict) else None
    if root != "object":
        return _wrong("reference", text, AnswerClass.WRONG_ROOT)
    passes = accepts_any_object(schema)
    return KnownAnswer(
        kind="reference",
        text=text,
        expected="" if passes else AnswerClass.VIOLATION.value,
    )


def accepts_any_object(schema: Json) -> bool:
    """Return whether an object schema of the families accepts any other member alone.

    Example:
        >>> accepts_any_object({"type": "object", "additionalProperties": True})
        True
    """
    return (
        isinstance(schema, dict)
        and schema.get("type") == "object"
        and schema.get("additionalProperties", True) is True
        and not schema.get("required")
    )


def _wrong_texts(text: str, settings: ConcodeSettings) -> Iterator[KnownAnswer]:
    """Yield what holds no answer, whatever the format."""
    left_open = f"{_before(settings)}```\n{text}"
    yield _wrong("without_fence", text, AnswerClass.NO_FENCE)
    yield _wrong("fence_left_open", left_open, AnswerClass.NO_FENCE)
    yield _wrong("fence_in_fence", f"```\n{_fenced(text)}\n```", AnswerClass.NO_ANSWER)
    yield _wrong("empty_fence", "```\n\n```", AnswerClass.NO_ANSWER)
    yield _wrong("white_space", " \n\t", AnswerClass.NO_ANSWER)
    yield _wrong("null", None, AnswerClass.NO_ANSWER)
    yield _wrong("thinking_alone", f"<think>{_fenced(text)}", AnswerClass.NO_ANSWER)
    yield KnownAnswer(
        kind="server_error",
        text=None,
        error="the server answered 500",
        expected=AnswerClass.API_ERROR.value,
    )


def _before(settings: ConcodeSettings) -> str:
    """Return words before a fence; after an open fence they would be the answer."""
    return "" if settings.form == "base" else "Here is a sample:\n\n"


def _fenced(text: str) -> str:
    return f"```\n{text}\n```"


def _wrong(
    kind: str, text: str | None, expected: AnswerClass, because: str = ""
) -> KnownAnswer:
    return KnownAnswer(kind=kind, text=text, expected=expected.value, because=because)
