"""The scorer of the suite: both tasks, schemas compiled once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.escaping import shortened
from evaluation.answers.schema_cache import SchemaCache
from evaluation.core.suite_records import Verdict
from evaluation.suites.concodeeval.fields import fields_of
from evaluation.suites.concodeeval.generation_task.scorer import GenerationScorer
from evaluation.suites.concodeeval.settings import (
    AnswerClass,
    ConcodeSettings,
    TaskName,
)
from evaluation.suites.concodeeval.validation_task.scorer import score_validation

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.suite_records import SuiteRecord, SuiteResponse
    from evaluation.suites.concodeeval.fields import RecordFields

_SHOWN: Final = 300


class ConcodeScorer:
    r"""Judges responses to records of both tasks.

    Example:
        >>> scorer = ConcodeScorer(ConcodeSettings())
        >>> answer = SuiteResponse(record=record.key, text="```\n[1]\n```")
        >>> scorer(record, answer).failure_class
        'wrong_root'
    """

    def __init__(self, settings: ConcodeSettings) -> None:
        """Take the settings of the suite."""
        self._settings = settings
        self._schemas = SchemaCache()
        self._generation = GenerationScorer(settings)

    def __call__(self, record: SuiteRecord, response: SuiteResponse) -> Verdict:
        """Return the verdict on one response."""
        fields = fields_of(record)
        verdict = self._judged(fields, record.dialect, response)
        return msgspec.structs.replace(
            verdict, details={**_labels(fields), **verdict.details}
        )

    def _judged(
        self, fields: RecordFields, dialect: str, response: SuiteResponse
    ) -> Verdict:
        if response.error:
            return Verdict(
                passed=False,
                failure_class=AnswerClass.API_ERROR.value,
                reasons=(shortened(response.error, _SHOWN),),
            )
        if fields.task is TaskName.VALIDATION:
            return score_validation(fields, response, self._settings)
        compiled = self._schemas.compiled(fields.schema, dialect)
        if isinstance(compiled, str):
            return Verdict(
                passed=False,
                failure_class=AnswerClass.SCHEMA_ERROR.value,
                reasons=(compiled,),
                counted=False,
            )
        return self._generation.score(fields, compiled, response)


def _labels(fields: RecordFields) -> dict[str, Json]:
    """Return what reports slice by."""
    length: Json = msgspec.to_builtins(fields.length)
    found: dict[str, Json] = {
        "task": fields.task.value,
        "representation": fields.representation,
        "output": fields.output.value,
        "family": fields.family,
        "schema": fields.schema_id,
        "length": length,
    }
    if fields.task is TaskName.VALIDATION:
        found |= {"label": fields.label, "keyword": fields.keyword}
    return found
