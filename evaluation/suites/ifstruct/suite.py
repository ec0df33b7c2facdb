"""IFStruct, as `csbdata suite` runs it: records and files of rows.

Source: Sam Paech and others, "IFStruct: Measuring structured-output compliance", Liquid
AI, 2026; docs/suites/ifstruct.md lists our changes and where the readings differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from curation.core.json_types import Json
from curation.system.errors import BadData
from curation.system.registry import imported_late
from evaluation.core.records import (
    GENERATED,
    Message,
    Prompt,
    Record,
    RecordRequest,
    RecordSet,
)
from evaluation.core.suite import Rewording, Suite
from evaluation.suites.common import published_files, published_rows
from evaluation.suites.ifstruct.rows import (
    FAILURES,
    IfstructRecord,
    IfstructSettings,
    read_record,
)

_THEN: Final = (
    "name a file of rows or owner/name[@revision], or leave --data out for our own rows"
)
#: Rows of a run without a file and without a limit; the published file has 2,000.
_ROWS: Final = 200


def suite_record(row: IfstructRecord) -> Record:
    """Return a row as the record of a suite; its group is the format of its answer.

    Only answers in JSON can be held to a schema, so only these have one.
    """
    schema = None
    if row.output_format == "json":
        schema = json.dumps(row.answer_schema(), ensure_ascii=False)
    return Record(
        id=str(row.seed),
        group=row.output_format,
        split="test" if row.entity_type.startswith("test__") else "",
        schema=schema,
        fields=msgspec.to_builtins(row),
    )


def _records(request: RecordRequest, settings: IfstructSettings) -> RecordSet:
    """Return the rows of published files, or generated rows.

    Raises:
        NoInput: missing file, folder or dataset, or it cannot be read.
        BadData: a line of it is not a row.
    """
    if request.data is not None:
        origin, files = published_files(request.data, (".jsonl", ".parquet"), _THEN)
        records = [row for file in files for row in read_rows(published_rows(file))]
        return RecordSet(name=request.data, origin=origin, records=records)
    records = [*_generate(request.limit or _ROWS, request.seed, settings)]
    name = f"{settings.split} split, mix {settings.mix}, seed {request.seed}"
    return RecordSet(name=name, origin=GENERATED, records=records, generated=True)


def _generate(count: int, seed: int, settings: IfstructSettings) -> Iterator[Record]:
    """Yield generated rows; two seeds share none."""
    from evaluation.suites.ifstruct.generator import generate_rows  # noqa: PLC0415 - heavy

    return map(suite_record, generate_rows(settings, seed, count))


def read_rows(rows: Iterable[tuple[str, Mapping[str, Json]]]) -> Iterator[Record]:
    """Yield the records of a file's rows, in either published variant.

    Args:
        rows: JSON objects with their places.

    Raises:
        BadData: one is not a row.
    """
    for where, columns in rows:
        try:
            yield suite_record(read_record(columns))
        except (ValueError, msgspec.ValidationError) as error:
            hint = "see docs/suites/ifstruct.md for the columns"
            raise BadData(f"no row: {error}", where, hint) from None


def _prompt(record: Record, settings: IfstructSettings) -> Prompt:
    turn = Message(role="user", content=str(record.fields["prompt"]))
    return Prompt(messages=(turn,), budget=settings.budget)


SUITE: Final = Suite(
    name="ifstruct",
    summary="Does a model follow a request for JSON or YAML, to the letter?",
    settings=IfstructSettings,
    classes=FAILURES,
    records=_records,
    prompt=_prompt,
    scorer=imported_late("evaluation.suites.ifstruct.scorer", "ifstruct_scorer"),
    tables=imported_late("evaluation.suites.ifstruct.report", "tables"),
    generate=_generate,
    published="LiquidAI/ifstruct-v1.0",
    paper={"reading": "published"},
    rewording=Rewording(
        prompt=imported_late("evaluation.suites.ifstruct.wording", "rewording"),
        accept=imported_late("evaluation.suites.ifstruct.wording", "accept"),
    ),
)
