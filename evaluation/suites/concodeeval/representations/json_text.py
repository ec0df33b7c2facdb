"""JSON: four spaces a level, as the published schemas are printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evaluation.suites.concodeeval.answers.json_answer import read_json
from evaluation.suites.concodeeval.answers.model import value_of

if TYPE_CHECKING:
    from curation.core.json_types import Json


def write_json(value: Json) -> str:
    """Return a value as JSON.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(value, indent=4, ensure_ascii=False, allow_nan=False)


def schema_from_json(text: str) -> Json:
    """Return the schema of a JSON text that `write_json` wrote.

    Raises:
        ValueError: it is no JSON.
    """
    return value_of(read_json(text))
