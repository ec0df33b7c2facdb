"""Folders of `<config>/<split>*.parquet`: a build, local or on the Hub.

Instances are in `instances/<config>` in the order of the records; both are read side
by side, a few rows at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.benchmark import CORE
from curation.core.documents import Rejected
from curation.dataset.editions import config_names, instance_tables, split_of_file
from curation.dataset.features import used
from curation.json.text import parse
from curation.schema.dialects import ANY_DIALECT
from curation.system.errors import BadConfiguration, BadData
from curation.system.user_files import file_digest
from evaluation.core.records import Instance, Record, RecordName

#: Rows held at a time; a schema may have a megabyte.
_BATCH: Final = 64
#: Maximum rows of a row group of instances, 1.5 million characters in all.
_BATCH_OF_INSTANCES: Final = 4_000
_WANTED: Final = ("unique_id", "json_schema", "dialect", "features", "weight")
_NAMES: Final = ("unique_id", "vacuous", "answer")
_OF_INSTANCES: Final = (
    "unique_id",
    "text",
    "valid",
    "kind",
    "keyword",
    "schema_pointer",
)
_NEEDED: Final = frozenset({"unique_id", "json_schema", "config", *_OF_INSTANCES})


class _Part(NamedTuple):
    config: str
    split: str
    schemas: tuple[Path, ...]
    #: None if the config has no instances at all.
    instances: tuple[Path, ...] | None


class ParquetTables(NamedTuple):
    """A folder of parquet files."""

    folder: Path
    parts: tuple[_Part, ...]
    origin: str

    @classmethod
    def of(cls, folder: Path, origin: str) -> ParquetTables | None:
        """Return the reader of a folder; None if it has no `<config>/*.parquet`."""
        parts: list[_Part] = []
        for config in config_names(folder):
            by_split = _by_split(sorted((folder / config).glob("*.parquet")))
            beside = _by_split(instance_tables(folder, config))
            parts += (
                _Part(config, split, schemas, beside.get(split, ()) if beside else None)
                for split, schemas in by_split.items()
            )
        return cls(folder=folder, parts=tuple(parts), origin=origin) if parts else None

    def sha256(self) -> str:
        """Return the digest of every input file."""
        total = hashlib.sha256()
        for part in self.parts:
            for path in (*part.schemas, *(part.instances or ())):
                name = path.relative_to(self.folder).as_posix()
                total.update(f"{file_digest(path)}  {name}\n".encode())
        return total.hexdigest()

    def names(self) -> Iterator[RecordName]:
        """Yield the name of every record."""
        for part in self.parts:
            complete = part.instances is not None
            for batch in _batches(part.schemas, _NAMES):
                for row in batch.to_pylist():
                    yield RecordName(
                        group=part.config,
                        id=row["unique_id"],
                        split=part.split,
                        # Also left out by default: schemas that may have no answer.
                        vacuous=bool(row.get("vacuous"))
                        or row.get("answer") == "unknown",
                        complete=complete,
                    )

    def records(self, places: Collection[int]) -> Iterator[Record]:
        """Yield the records at these places, with their instances if there are any.

        Raises:
            BadData: instances are not in the order of their records.
        """
        offset = 0
        for part in self.parts:
            rows, names, offset = _selected_rows(part, places, offset)
            if not names:
                continue
            instances = _InstancesByRecord(part.instances or (), names)
            for number, batch in enumerate(_batches(part.schemas, _WANTED)):
                for row, name in rows[number].items():
                    yield _sample(batch, row, part, instances.take(name))
            instances.close()

    def core(self) -> frozenset[str]:
        """Return the names of the records of config `core`; none without one."""
        paths = sorted((self.folder / CORE).glob("*.parquet"))
        return frozenset(
            f"{row['config']}/{row['unique_id']}"
            for batch in _batches(paths, ("config", "unique_id"))
            for row in batch.to_pylist()
        )


class _InstancesByRecord:
    def __init__(self, paths: Sequence[Path], names: Sequence[pa.StringArray]) -> None:
        self._paths = paths
        self._groups = groupby(_instances(paths, names), key=itemgetter(0))
        self._next = next(self._groups, None)

    def take(self, name: str) -> tuple[Instance, ...]:
        if self._next is None or self._next[0] != name:
            return ()
        instances = tuple(instance for _, instance in self._next[1])
        self._next = next(self._groups, None)
        return instances

    def close(self) -> None:
        if self._next is not None:
            raise BadData(
                f"the instances of {self._next[0]!r} stand where it does not",
                str(self._paths[0].parent),
                "csbdata verify lists further faults",
            )


def _by_split(paths: Sequence[Path]) -> dict[str, tuple[Path, ...]]:
    groups = groupby(paths, key=lambda path: split_of_file(path) or "")
    return {split: tuple(paths) for split, paths in groups}


def _selected_rows(
    part: _Part, places: Collection[int], offset: int
) -> tuple[list[dict[int, str]], list[pa.StringArray], int]:
    """Return the selected rows batch by batch, and their names as Arrow's.

    The first row of the part has the place `offset`; the last value is the place
    after its last.
    """
    rows = []
    selected = []
    for batch in _batches(part.schemas, ("unique_id",)):
        names = batch.column("unique_id")
        selected_rows = {
            row: names[row].as_py()
            for row in range(len(names))
            if offset + row in places
        }
        rows.append(selected_rows)
        selected += [names.slice(row, 1) for row in selected_rows]
        offset += len(names)
    return rows, selected, offset


def _batches(
    paths: Sequence[Path], columns: Sequence[str], rows: int = _BATCH
) -> Iterator[pa.RecordBatch]:
    """Yield the columns that a file has of these, a few rows at a time.

    Raises:
        BadConfiguration: a required one is missing.
        BadData: a file cannot be read.
    """
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                present = [name for name in columns if name in file.schema_arrow.names]
                missing = sorted(_NEEDED.intersection(columns).difference(present))
                if missing:
                    message = f"no column {', '.join(missing)}"
                    raise BadConfiguration(message, str(path))
                for name in present:
                    kind = file.schema_arrow.field(name).type
                    if not (pa.types.is_null(kind) or _KINDS.get(name, _is_text)(kind)):
                        raise BadData(f"column {name} is of type {kind}", str(path))
                yield from file.iter_batches(rows, columns=present)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise BadData(f"not readable as parquet ({error})", str(path)) from error


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


#: Columns that are not texts.
_KINDS: Final[Mapping[str, Callable[[pa.DataType], bool]]] = {
    "features": lambda kind: pa.types.is_list(kind) or pa.types.is_large_list(kind),
    "weight": pa.types.is_floating,
    "valid": pa.types.is_boolean,
    "vacuous": pa.types.is_boolean,
}


def _sample(
    batch: pa.RecordBatch, row: int, part: _Part, instances: tuple[Instance, ...]
) -> Record:
    values = {name: batch.column(name)[row].as_py() for name in batch.schema.names}
    named = values.get("features")
    schema = values["json_schema"]
    if schema is None or values["unique_id"] is None:
        where = f"{part.config}/{values['unique_id']}"
        raise BadData("a row without json_schema or unique_id", where)
    if named is None:
        value = parse(schema.encode("utf-8", "surrogatepass"))
        named = () if isinstance(value, Rejected) else used(value, ANY_DIALECT).features
    return Record(
        id=values["unique_id"],
        group=part.config,
        split=part.split,
        schema=schema,
        dialect=values.get("dialect") or "",
        instances=instances,
        features=tuple(named),
        weight=values.get("weight") or 1.0,
    )


def _instances(
    paths: Sequence[Path], names: Sequence[pa.StringArray]
) -> Iterator[tuple[str, Instance]]:
    import pyarrow.compute as pc  # noqa: PLC0415 - 50 ms, for a build's instances alone

    # `pa.array` of a list would load pandas, a quarter of a second.
    name_array = pa.concat_arrays(names)
    for batch in _batches(paths, _OF_INSTANCES, _BATCH_OF_INSTANCES):
        selected = batch.filter(pc.is_in(batch.column("unique_id"), name_array))
        columns = [selected.column(name).to_pylist() for name in _OF_INSTANCES]
        for name, text, valid, kind, keyword, pointer in zip(*columns, strict=True):
            yield (
                name,
                Instance(
                    text=text,
                    valid=valid,
                    kind=kind,
                    keyword=keyword or "",
                    schema_pointer=pointer or "",
                ),
            )
