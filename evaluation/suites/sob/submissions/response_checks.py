"""Checks of response files: complete, once each, and of the records as they are."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from curation.json.values import identity, is_number
from curation.system.errors import BadData
from evaluation.suites.sob.records.loading import json_line
from evaluation.suites.sob.records.published_rows import (
    model_of_line,
    record_of_response,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.suites.sob.record import SobRecord

_SOURCE_IN_NAME: Final = re.compile(r"_(text|image|audio)\.jsonl\Z")
_NAMED: Final = 3
# What a submission repeats of a record, and must not change.
_COPIED: Final = (
    ("context", "the context"),
    ("question", "the question"),
    ("json_schema", "the schema"),
    ("ground_truth", "the truth"),
    ("schema_complexity", "the schema's complexity"),
    ("question_difficulty", "the question's difficulty"),
)
_COUNTS: Final = ("input_tokens", "output_tokens", "avg_time_per_record")


def read_lines(file: Path) -> tuple[list[tuple[str, dict[str, Json]]], list[str]]:
    """Return the objects of a file of JSON lines with their places, and complaints."""
    lines: list[tuple[str, dict[str, Json]]] = []
    complaints: list[str] = []
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        where = f"{file.name}:{number}"
        if line.strip():
            try:
                lines.append((where, json_line(line, where)))
            except BadData as error:
                complaints.append(str(error))
    return lines, complaints


def response_complaints(
    file: Path,
    lines: list[tuple[str, dict[str, Json]]],
    records: Mapping[str, SobRecord],
) -> Iterator[str]:
    """Yield one line for each fault of a response file.

    Args:
        file: The file, for its name.
        lines: Its lines with their places.
        records: The records that were to be answered, by id.
    """
    answered = Counter[str]()
    for where, line in lines:
        try:
            copied = record_of_response(line, where)
        except BadData as error:
            yield str(error)
            continue
        record = records.get(copied.record_id)
        if record is None:
            yield f"{where}: unknown record {copied.record_id[:16]}"
            continue
        answered[record.record_id] += 1
        yield from _tampered(where, copied, record)
        yield from _impossible(where, line)
    yield from _twice(file, answered)
    yield from _incomplete(file, answered, records)
    models = sorted({model_of_line(line) for _, line in lines})
    if len(models) > 1:
        yield f"{file.name}: answers of {len(models)} models: {', '.join(models)}"
    named = _SOURCE_IN_NAME.search(file.name)
    sources = {records[record].source for record in answered}
    if named and sources - {named[1]}:
        others = ", ".join(sorted(sources - {named[1]}))
        yield f"{file.name}: its name says {named[1]}, its records are {others}"


def _tampered(where: str, copied: SobRecord, record: SobRecord) -> Iterator[str]:
    for name, what in _COPIED:
        ours, theirs = getattr(record, name), getattr(copied, name)
        # What a file does not repeat it does not change.
        if theirs != "" and identity(ours) != identity(theirs):
            yield f"{where}: {what} is not that of record {record.record_id[:16]}"


def _impossible(where: str, line: Mapping[str, Json]) -> Iterator[str]:
    info = line.get("eval_info")
    for name in _COUNTS if isinstance(info, dict) else ():
        value = info.get(name) if isinstance(info, dict) else None
        if value is not None and not (is_number(value) and value >= 0):
            yield f"{where}: eval_info.{name} is {value!r}"


def _twice(file: Path, answered: Counter[str]) -> Iterator[str]:
    twice = sorted(record for record, count in answered.items() if count > 1)
    if twice:
        yield f"{file.name}: {len(twice):,} records answered twice: {_names(twice)}"


def _incomplete(
    file: Path, answered: Counter[str], records: Mapping[str, SobRecord]
) -> Iterator[str]:
    for source in sorted({records[record].source for record in answered}):
        wanted = {name for name, record in records.items() if record.source == source}
        missing = sorted(wanted - answered.keys())
        if missing:
            yield (
                f"{file.name}: {len(missing):,} of {len(wanted):,} {source} records "
                f"are not answered: {_names(missing)}"
            )


def _names(ids: list[str]) -> str:
    more = ", ..." if len(ids) > _NAMED else ""
    return ", ".join(name[:16] for name in ids[:_NAMED]) + more
