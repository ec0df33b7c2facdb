"""How a record is asked, by its task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.concodeeval.fields import fields_of
from evaluation.suites.concodeeval.generation_task.prompts import generation_prompt
from evaluation.suites.concodeeval.settings import TaskName
from evaluation.suites.concodeeval.validation_task.prompts import validation_prompt

if TYPE_CHECKING:
    from evaluation.core.suite_records import SuitePrompt, SuiteRecord
    from evaluation.suites.concodeeval.settings import ConcodeSettings


def prompt(record: SuiteRecord, settings: ConcodeSettings) -> SuitePrompt:
    """Return the prompt of one record."""
    fields = fields_of(record)
    if fields.task is TaskName.GENERATION:
        return generation_prompt(fields, settings)
    return validation_prompt(fields, settings)
