"""Records as the authors publish them: rows of parquet or JSON lines.

A row has `record_id`, `context`, `question`, `json_schema` and `ground_truth`, the last
two as JSON text or as values. A response file has the same beneath `input`, `output`
and `metadata`, with the answer of a model.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Final

from curation.core.documents import Rejected
from curation.json.text import parse
from curation.json.values import is_number
from curation.system.errors import BadData
from evaluation.core.suite_records import SuiteResponse
from evaluation.suites.sob.record import SobRecord, complexity_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from evaluation.suites.sob.record import Source

# Columns that rows of one source alone have.
_MARKS: Final[Mapping[str, Source]] = {
    "meeting_id": "audio",
    "num_speakers": "audio",
    "source_pdf": "image",
    "source_category": "image",
}


def source_of(row: Mapping[str, Json], where: str) -> Source:
    """Return a row's source: by a column of its own, else by the name of its file."""
    for column, source in _MARKS.items():
        if row.get(column) is not None:
            return source
    name = where.lower()
    return "image" if "image" in name else "audio" if "audio" in name else "text"


def record_of_row(row: Mapping[str, Json], where: str) -> SobRecord:
    """Return the record of a row of the published data.

    Args:
        row: The row.
        where: Its file and line, for messages, and to tell its source by.

    Raises:
        BadData: a column is missing, or holds no JSON.
    """
    schema = _value(row, "json_schema", where)
    complexity, difficulty = (
        str(row.get(name) or "")
        for name in ("schema_complexity", "question_difficulty")
    )
    return SobRecord(
        record_id=_text(row, "record_id", where),
        source=source_of(row, where),
        context=_text(row, "context", where),
        question=_text(row, "question", where),
        json_schema=schema,
        ground_truth=_value(row, "ground_truth", where),
        # What says neither is as hard as its schema: else it would weigh nothing.
        schema_complexity=complexity
        if complexity or difficulty
        else complexity_of(schema),
        question_difficulty=difficulty,
    )


def record_of_response(line: Mapping[str, Json], where: str) -> SobRecord:
    """Return the record that a line of a published response file answers.

    Raises:
        BadData: a member is missing, or holds no JSON.
    """
    metadata, given, output = (
        member if isinstance(member := line.get(name), dict) else {}
        for name in ("metadata", "input", "output")
    )
    row: dict[str, Json] = {
        **metadata,
        **given,
        "ground_truth": output.get("ground_truth"),
        "question_difficulty": metadata.get("difficulty"),
    }
    return record_of_row(row, where)


def model_of_line(line: Mapping[str, Json]) -> str:
    """Return the model that a line of a published response file is of."""
    metadata = line.get("metadata")
    return str(metadata.get("model_id", "")) if isinstance(metadata, dict) else ""


def response_of_line(line: Mapping[str, Json]) -> SuiteResponse | None:
    """Return the response of a line of a published response file; None of another.

    The authors store what they parsed. A text that they could not parse is a string
    there and is not parsed again, so it becomes the JSON text of that string.
    """
    metadata, output = line.get("metadata"), line.get("output")
    if not isinstance(metadata, dict) or not isinstance(output, dict):
        return None
    if "record_id" not in metadata or "candidate_response" not in output:
        return None
    candidate, info = output["candidate_response"], line.get("eval_info")
    tokens = info if isinstance(info, dict) else {}
    return SuiteResponse(
        record=str(metadata["record_id"]),
        model=model_of_line(line) or "model",
        text=None if candidate is None else json.dumps(candidate, ensure_ascii=False),
        error="no response was stored" if candidate is None else "",
        prompt_tokens=_count(tokens.get("input_tokens")),
        output_tokens=_count(tokens.get("output_tokens")),
    )


def _count(value: Json) -> int | None:
    return int(value) if is_number(value) and isfinite(value) else None


def _text(row: Mapping[str, Json], column: str, where: str) -> str:
    value = row.get(column)
    if not isinstance(value, str):
        raise BadData(f"no text in {column!r}", where, "it is a row of another layout")
    return value


def _value(row: Mapping[str, Json], column: str, where: str) -> Json:
    """Return a member that is JSON, or JSON text."""
    value = row.get(column)
    if value is None:
        raise BadData(f"no {column!r}", where, "it is a row of another layout")
    if not isinstance(value, str):
        return value
    found = parse(value.encode("utf-8", "surrogatepass"))
    if isinstance(found, Rejected):
        raise BadData(f"{column!r} is no JSON: {found.detail}", where)
    return found
