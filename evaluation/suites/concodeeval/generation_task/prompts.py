"""How task 1 is asked: zero-shot and few-shot, as a conversation or as one text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evaluation.suites.concodeeval.generation_task.shots import shots
from evaluation.suites.concodeeval.prompt_texts import sentence, suite_prompt
from evaluation.suites.concodeeval.representations.registry import REPRESENTATIONS
from evaluation.suites.concodeeval.representations.samples import write_sample

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.suite_records import SuitePrompt
    from evaluation.suites.concodeeval.fields import RecordFields
    from evaluation.suites.concodeeval.settings import ConcodeSettings


def generation_prompt(fields: RecordFields, settings: ConcodeSettings) -> SuitePrompt:
    """Return how a record of task 1 is asked."""
    schema: Json = json.loads(fields.schema)
    body = (
        _few_shot(schema, fields, settings)
        if settings.few_shot
        else _zero_shot(schema, fields, settings)
    )
    return suite_prompt(body, _sample_line(fields), settings.budget, fields, settings)


def _zero_shot(schema: Json, fields: RecordFields, settings: ConcodeSettings) -> str:
    text = _schema_text(schema, fields)
    fence = _fence_line(fields, settings)
    if fields.representation == "nl":
        said = sentence("generation", "described", fields)
        return f"{text}\n\n{said}{fence}"
    asked = sentence("generation", "common", fields)
    return f"{asked}{fence}\n\n{text}"


def _few_shot(schema: Json, fields: RecordFields, settings: ConcodeSettings) -> str:
    title = REPRESENTATIONS[fields.representation].title
    task = sentence("few_shot", "task", fields)
    blocks = [f"{task}\n{sentence('few_shot', 'examples', fields)}"]
    for shot_schema, shot_sample in shots(settings.reading):
        sample = write_sample(shot_sample, fields.output)
        blocks += [
            f"{title} format schema:\n{_schema_text(shot_schema, fields)}",
            f"{_sample_line(fields)}\n```\n{sample}\n```",
        ]
    blocks.append(f"{title} format schema:\n{_schema_text(schema, fields)}")
    fence = _fence_line(fields, settings).strip()
    return "\n\n".join([*blocks, fence] if fence else blocks)


def _sample_line(fields: RecordFields) -> str:
    return f"{fields.output.upper()} sample:"


def _fence_line(fields: RecordFields, settings: ConcodeSettings) -> str:
    """Return the request for a fence, where the prompt does not open one itself."""
    if settings.form == "chat":
        return f" {sentence('generation', 'fence', fields)}"
    if settings.template == "question_fence":
        return f" {sentence('generation', 'question_fence', fields)}"
    return ""


def _schema_text(schema: Json, fields: RecordFields) -> str:
    return str(REPRESENTATIONS[fields.representation].write(schema))
