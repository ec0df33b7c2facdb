"""A column of a Hub dataset that holds schemas: `OWNER/NAME@REV#COLUMN`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from curation.core.documents import Rejected
from curation.json.text import parse
from curation.sources.own.schema import OwnSchema
from curation.system.errors import BadData, BadUsage, NoInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from curation.core.json_types import Json

_SPEC = re.compile(r"(?P<name>[^/@#]+/[^/@#]+)@(?P<revision>[^#]+)#(?P<column>.+)")
_ID = "unique_id"


def read_hub_rows(spec: str, say: Callable[[str], None]) -> list[OwnSchema]:
    """Return the schemas of a column, by the rows of all its parquet files.

    A value is the text of a schema, or an object. A row is named by its `unique_id`
    where there is such a column, else by its number.

    Args:
        spec: The dataset, its revision (a commit: a branch moves) and the column.
        say: Told of values that are no JSON.

    Raises:
        BadUsage: the text is not of this form (exit 2).
        NoInput: there is no such dataset, revision or column (exit 66).
        Unavailable: the Hub cannot be reached (exit 69).
        BadData: no value is JSON (exit 65).
    """
    from curation.huggingface import hub_snapshot  # noqa: PLC0415 (slow)

    wanted = _SPEC.fullmatch(spec)
    if wanted is None:
        then = "say --with hf:OWNER/NAME@REVISION#COLUMN"
        raise BadUsage("no dataset, revision and column", f"hf:{spec}", then)
    folder = hub_snapshot(wanted["name"], wanted["revision"])
    tables = sorted(folder.rglob("*.parquet"))
    if not tables:
        raise NoInput("has no parquet files at this revision", spec)
    found, broken = [], 0
    for number, (name, value) in enumerate(_values(tables, wanted["column"]), start=1):
        schema = parse(value.encode()) if isinstance(value, str) else value
        if schema is None or isinstance(schema, Rejected):
            broken += 1
            continue
        found.append(OwnSchema(name=name or f"row-{number}", schema=schema))
    if not found:
        raise BadData("no value of it is JSON", spec)
    if broken:
        say(f"{spec}: {broken:,} values are no JSON and left out")
    return found


def _values(tables: list[Path], column: str) -> Iterator[tuple[str | None, Json]]:
    """Yield name and value of each row.

    Raises:
        NoInput: a table lacks the column; those that there are are named.
    """
    for table in tables:
        with pq.ParquetFile(table) as file:
            names = file.schema_arrow.names
            if column not in names:
                there = ", ".join(names)
                raise NoInput(f"no column {column!r}", table.name, f"it has {there}")
            wanted = [column, _ID] if _ID in names else [column]
            for batch in file.iter_batches(columns=wanted):
                for row in batch.to_pylist():
                    yield row.get(_ID), row[column]
