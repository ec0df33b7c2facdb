"""The prompted pass rate, as `csbdata suite` runs it: records, known answers, report.

Source: "How the JSONSchemaBench works", the description of a public harness; where it
is silent or contradicts itself, docs/suites.md names the reading.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from curation.system.registry import imported_late
from evaluation.core.suite import KnownAnswer, ScoredResponse, ScoredRun, Suite
from evaluation.reporting.tables import BRACKETS, Table
from evaluation.suites.common import first_witness, schema_records
from evaluation.suites.passrate.prompts import prompt
from evaluation.suites.passrate.settings import (
    FailureClass,
    PassrateSettings,
    as_published,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json
    from evaluation.core.records import Record, RecordRequest, RecordSet
    from evaluation.reporting.tables import Cell

#: Maximum share of responses without an answer for a meaningful rate.
_DEGRADED: Final = 0.01
_NOTE: Final = (
    "passed: of all responses but those whose schema cannot be used. answered: of the "
    "same without the class api_error. strict: no member that the schema does not "
    "declare; schema: what the schema itself accepts. degraded: over 1 % "
    f"are of class api_error. {BRACKETS}"
)


def _records(request: RecordRequest, _settings: PassrateSettings) -> RecordSet:
    return schema_records(request)


def _known_answers(record: Record, settings: PassrateSettings) -> Iterator[KnownAnswer]:
    """Yield right and wrong answers to a record; none if its schema has no witness."""
    from evaluation.suites.passrate.scorer import undeclared_members  # noqa: PLC0415 - heavy

    for schema, value in first_witness(record.schema or "false", record.dialect):
        text = json.dumps(value, indent=2)
        extra = undeclared_members(schema, value)
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


def tables(run: ScoredRun) -> Iterator[Table]:
    """Yield the suite's own table."""
    from evaluation.results.suite_tables import groups_of, texts_of_group  # noqa: PLC0415 - heavy

    rows: list[tuple[Cell, ...]] = []
    for group in groups_of(run.by_label):
        for label, responses in run.by_label.items():
            rows.append((group, label, *_rates(texts_of_group(responses, group))))
    rates = ("answered", "strict", "schema", "degraded")
    yield Table(
        title="Prompted pass rate",
        columns=("config", "model", "responses", "passed", *rates),
        rows=tuple(rows),
        note=_NOTE,
        name="pass-rate",
    )


def _rates(responses: Sequence[ScoredResponse]) -> tuple[Cell, ...]:
    from evaluation.results.suite_tables import passed, share_of  # noqa: PLC0415 - heavy

    counted = [scored for scored in responses if scored.verdict.counted]
    answered = [
        scored
        for scored in counted
        if scored.verdict.failure_class != FailureClass.API_ERROR
    ]
    return (
        len(responses),
        passed(counted),
        passed(answered),
        share_of(counted, "strict"),
        share_of(counted, "schema"),
        "yes" if len(counted) - len(answered) > _DEGRADED * len(counted) else "",
    )


SUITE = Suite(
    name="passrate",
    summary="Does a model, only asked to, write JSON that its schema accepts?",
    settings=PassrateSettings,
    classes={kind.value: kind.explanation for kind in FailureClass},
    records=_records,
    prompt=prompt,
    scorer=imported_late("evaluation.suites.passrate.scorer", "passrate_scorer"),
    tables=tables,
    known_answers=_known_answers,
    paper=as_published,
)
