"""Prompts written to files, for who asks models in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.suite_records import SuiteRecord
    from evaluation.suite_runs.request import ChosenSuite


def prompt_line(chosen: ChosenSuite, record: SuiteRecord) -> bytes:
    """Return one record's prompt as a JSON line of ours."""
    asked = chosen.suite.prompt(record, chosen.settings)
    return orjson.dumps(
        {
            "record": record.key,
            "messages": _messages(chosen, record),
            "budget": asked.budget,
            "schema": record.schema,
        }
    )


def batch_line(chosen: ChosenSuite, record: SuiteRecord, model: str) -> bytes:
    """Return one record's prompt as a request of OpenAI's batch interface."""
    asked = chosen.suite.prompt(record, chosen.settings)
    return orjson.dumps(
        {
            "custom_id": record.key,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {
                "model": model,
                "messages": _messages(chosen, record),
                "max_completion_tokens": asked.budget,
            },
        }
    )


def _messages(chosen: ChosenSuite, record: SuiteRecord) -> list[Json]:
    asked = chosen.suite.prompt(record, chosen.settings)
    return [
        {"role": message.role, "content": message.content} for message in asked.messages
    ]
