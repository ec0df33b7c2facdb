"""A table of JSON Schemas, one a row: JSON lines, or a parquet file of one's own.

A line is a schema, a row with `json_schema` and, if it is to have a name, `unique_id`,
or one of MaskBench's files on one line. The rows are those that
`csbdata build --with local:` reads, under the same ids.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.sources.local import json_lines, made_unique, parquet_rows
from curation.system.errors import BadData, NoInput
from evaluation.data.schema_texts import (
    SchemaText,
    is_maskbench,
    maskbench_schema,
    plain_schema,
    read_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from evaluation.core.cases import Sample
    from evaluation.data.dataset import SampleName

_LINES, _TABLE = ".jsonl", ".parquet"


@dataclass(slots=True)
class SchemaRows:
    """The schemas of one `.jsonl` or `.parquet` file, in the order of its rows."""

    path: Path
    origin: str = "files"
    #: The rows that are no schema, and what is wrong with each.
    _bad: dict[int, str] = field(default_factory=dict)
    #: The rows whose schema is invalid, and stays in because it has tests.
    _doubtful: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> SchemaRows | None:
        """Return the reader of a path; None where it is no such file."""
        return cls(path) if path.is_file() and path.suffix in {_LINES, _TABLE} else None

    def sha256(self) -> str:
        """Return the digest of the file."""
        return hashlib.sha256(self._content()).hexdigest()

    def names(self) -> Iterator[SampleName]:
        """Yield the name of every schema.

        Raises:
            BadData: no row is a schema.
        """
        self._bad, self._doubtful = {}, {}
        found = False
        for number, row in self._rows():
            if isinstance(row, str):
                self._bad[number] = row
                continue
            found = True
            if row.complaint:
                self._doubtful[number] = row.complaint
            yield row.name()
        if self._bad and not found:
            raise BadData(f"no row is a schema: {self.left_out()[0]}", str(self.path))

    def samples(self, places: Collection[int]) -> Iterator[Sample]:
        """Yield the schemas at these places."""
        good = (row for _, row in self._rows() if isinstance(row, SchemaText))
        for place, row in enumerate(good):
            if place in places:
                yield row.sample()

    def left_out(self) -> tuple[str, ...]:
        """Return the rows that are no schema, and why."""
        return tuple(f"row {number}: {why}" for number, why in self._bad.items())

    def remarks(self) -> tuple[str, ...]:
        """Return the rows whose schema is invalid and stays in, and why."""
        return tuple(f"row {number}: {why}" for number, why in self._doubtful.items())

    def _rows(self) -> Iterator[tuple[int, SchemaText | str]]:
        content = self._content()
        rows = json_lines(content)
        if self.path.suffix == _TABLE:
            rows = parquet_rows(content, str(self.path))
        for number, name, text in made_unique(rows, self.path.stem):
            yield number, self._read(name, text)

    def _read(self, name: str, text: bytes) -> SchemaText | str:
        """Return a row's schema, or what is wrong with it."""
        value = read_text(text)
        if isinstance(value, str):
            return value
        if is_maskbench(value):
            return maskbench_schema(self.path.stem, name, value)
        return plain_schema(self.path.stem, name, value)

    def _content(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise NoInput(why, str(self.path)) from error
