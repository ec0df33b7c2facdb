"""The data of a run: a name, a digest, and records read one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from curation.core.json_types import Json

if TYPE_CHECKING:
    from evaluation.core.records import Record, RecordName, RecordSelection


class RecordReader(Protocol):
    """Reads the records of data in one layout, such as a folder of parquet files.

    `names` and `records` are in the same order, which never changes.

    Example:
        >>> reader = OwnSchemaReader.of(open_source("my_schemas"))
        >>> [name.id for name in reader.names()]
        ['crate', 'lid']
        >>> [record.schema for record in reader.records({1})]
        ['{"type": "object"}']
    """

    @property
    def origin(self) -> str:
        """Where the data is from: `build`, `files`, `hub` or `sample`."""

    def sha256(self) -> str:
        """Return the digest of all input."""

    def names(self) -> Iterator[RecordName]:
        """Yield the name of every record."""

    def records(self, places: Collection[int]) -> Iterator[Record]:
        """Yield the records at these places of `names`."""

    def left_out(self) -> tuple[str, ...]:
        """Return one line for everything that is not a schema; known after `names`."""

    def remarks(self) -> tuple[str, ...]:
        """Return one line for every schema that is invalid and stays in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The records of one run."""

    #: As `--data` names it.
    name: str
    #: `build`, `files`, `hub` or `sample`.
    origin: str
    #: Digest of all the data, chosen or not.
    sha256: str
    #: Number of records.
    count: int
    #: Where instances come from: `given`, `made`, `given and made` or `none`.
    instances: str
    selection: RecordSelection
    #: One line for everything that is not a schema, with the reason.
    left_out: tuple[str, ...]
    #: Number of vacuous records that do not count.
    vacuous: int = 0
    #: One line for every schema that is invalid and stays in.
    remarks: tuple[str, ...] = ()
    #: Reasons why its figures are not the benchmark's, a line each.
    partial: tuple[str, ...] = ()
    #: What `--data` takes from any folder; empty if it has no such name.
    place: str = ""
    #: Reads the records afresh at each call, in the same order.
    read: Callable[[], Iterator[Record]]

    def records(self) -> Iterator[Record]:
        """Yield the records; memory does not grow with their number."""
        return self.read()

    def header(self) -> dict[str, Json]:
        """Return its entry in a run's header."""
        return {
            "name": self.name,
            "place": self.place,
            "origin": self.origin,
            "sha256": self.sha256,
            "schemas": self.count,
            "instances": self.instances,
            "configs": list(self.selection.configs),
            "splits": list(self.selection.splits),
            "left_out": len(self.left_out),
            "vacuous": self.vacuous,
            "invalid": len(self.remarks),
            "partial": list(self.partial),
        }
