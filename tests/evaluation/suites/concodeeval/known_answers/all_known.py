"""Answers whose verdicts are known, by a record's task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.concodeeval.settings import TaskName, fields_of
from tests.evaluation.suites.concodeeval.known_answers import generation, validation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.core.records import Record
    from evaluation.core.suite import KnownAnswer
    from evaluation.suites.concodeeval.settings import ConcodeSettings


def known_answers(record: Record, settings: ConcodeSettings) -> Iterator[KnownAnswer]:
    """Return right and wrong answers to one record."""
    fields = fields_of(record)
    if fields.task is TaskName.GENERATION:
        return generation.known_answers(fields, record.dialect, settings)
    return validation.known_answers(fields, settings)
