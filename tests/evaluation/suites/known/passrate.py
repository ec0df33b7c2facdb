"""Answers to schemas of suite passrate; none if a schema has no witness."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evaluation.suites.passrate.scorer import (
    marked_validator,
    undeclared_members,
)
from evaluation.suites.passrate.suite import FailureClass, PassrateSettings
from tests.evaluation.suites.known_answers import KnownAnswer, first_witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from evaluation.core.records import Record


def known_answers(record: Record, settings: PassrateSettings) -> Iterator[KnownAnswer]:
    """Yield right and wrong answers to a record; none if its schema has no witness."""
    for schema, value in first_witness(record.schema or "false", record.dialect):
        text = json.dumps(value, indent=2)
        extra = undeclared_members(marked_validator(schema), value)
        if not extra or settings.mode == "schema":
            yield KnownAnswer(kind="reference", text=f"<think>{{</think>\n{text}")
        kinds = FailureClass
        for kind, answer, finish in (
            (kinds.EMPTY, f"<think>{text}", "stop"),
            (kinds.TRUNCATED, f"[{text}", "length"),
            (kinds.SYNTAX_ERROR, f"[{text},]", "stop"),
            (kinds.REFUSAL, "I'm sorry, but I can't help with that.", "stop"),
            (kinds.REFUSAL, "", "content_filter"),
        ):
            yield KnownAnswer(kind=kind, text=answer, finish=finish, expected=kind)
        for kind, wrong in _wrong_values(schema.value, value):
            if kind is kinds.SCHEMA_VIOLATION or settings.mode == "strict":
                yield KnownAnswer(kind=kind, text=json.dumps(wrong), expected=kind)
        error = "HTTP 500: try later"
        failed = kinds.API_ERROR
        yield KnownAnswer(kind=failed, text=None, error=error, expected=failed)


def _wrong_values(schema: Json, right: Json) -> Iterator[tuple[FailureClass, Json]]:
    root = schema if isinstance(schema, dict) else {}
    if isinstance(root.get("type"), str):
        yield FailureClass.SCHEMA_VIOLATION, {} if root["type"] != "object" else []
    plain = root.keys() <= {"$schema", "title", "type", "properties", "required"}
    if plain and root.get("properties") and isinstance(right, dict):
        yield FailureClass.HALLUCINATION, {**right, "undeclared_7f3a": "?"}
