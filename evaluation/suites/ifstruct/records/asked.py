"""Rows as the records that every suite has, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.system.errors import NoInput
from evaluation.core.suite_records import SuiteRecord
from evaluation.suites.ifstruct.core.requirements import AnswerFormat
from evaluation.suites.ifstruct.records.files import read_record, read_records

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.records.record import IfstructRecord


def as_asked(record: IfstructRecord) -> SuiteRecord:
    """Return a row as the record of a suite; its group is the format of its answer.

    Only answers in JSON can be held to a schema, so only these have one.
    """
    schema = None
    if record.output_format is AnswerFormat.JSON:
        schema = json.dumps(record.requirements.answer_schema(), ensure_ascii=False)
    return SuiteRecord(
        id=record.id,
        group=str(record.output_format),
        schema=schema,
        fields=msgspec.to_builtins(record),
    )


def read_asked(record: SuiteRecord) -> IfstructRecord:
    """Return the row that a record of the suite holds.

    Raises:
        ValueError: it holds none.
    """
    return read_record(record.fields)


def read_published(path: str) -> list[IfstructRecord]:
    """Return the rows of a published file, in either variant.

    Raises:
        NoInput: it cannot be read.
        BadData: a line is no row.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise NoInput(
            why, path, "name a file of rows, or leave --data out for rows of our own"
        ) from error
    return read_records(content, path)
