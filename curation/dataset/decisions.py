"""Decisions on raw documents: a record, or a rejection with its reason."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from curation.core.benchmark import split_of
from curation.core.documents import KEPT, Change, Provenance, Rejected
from curation.core.records import BenchmarkRecord
from curation.dataset.paper_tables import RawFigures  # noqa: TC001 (msgspec reads it)
from curation.system.atomic_files import writing

if TYPE_CHECKING:
    from curation.dataset.ledger import LedgerRow


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentResult:
    """The outcome of one document: a record, or a rejection with its reason."""

    config: str
    record: BenchmarkRecord | None
    rejected: Rejected | None
    changes: tuple[Change, ...]
    #: Figures of the file as read, where the rule set counts by them.
    raw: RawFigures | None = None
    #: The record's shingles (`curation.schema.shingles.shingles`).
    shingles: bytes = b""


class RecordHead(msgspec.Struct, frozen=True):
    """The part of a record for the benchmark's rules and splits."""

    sha256: str = ""
    split_key: str = ""
    field_count: int = 0


class ResultHead(msgspec.Struct, frozen=True):
    """The part of a `DocumentResult` that is held in memory."""

    config: str
    record: RecordHead | None
    rejected: Rejected | None


_NO_RECORD = RecordHead()


class ResultFile:
    """Results of a build's documents in a temporary file.

    The file has no name, so that nothing remains when the process ends.

    Example:
        >>> with ResultFile(folder) as file:
        ...     file.add(msgspec.json.encode(result)).whole()
    """

    def __init__(self, folder: Path) -> None:
        """Open a file in an existing folder.

        Raises:
            CannotCreate: it cannot be written (exit 73).
        """
        self._folder = folder
        with writing(folder):
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 (closed by `__exit__`)
        self._end = 0

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, which removes it."""
        self._file.close()

    def add(self, text: bytes | msgspec.Raw) -> HeldResult:
        """Write a result; return the part that stays in memory.

        Args:
            text: A `DocumentResult` as JSON.

        Raises:
            CannotCreate: it cannot be written (exit 73).
        """
        head = msgspec.json.decode(text, type=ResultHead)
        record = head.record or _NO_RECORD
        waiting = memoryview(text)
        length = len(waiting)
        with writing(self._folder):
            # A disk that fills takes a part, and refuses the rest.
            while waiting:
                waiting = waiting[self._file.write(waiting) :]
        start = self._end
        self._end += length
        return HeldResult(
            config=head.config,
            rejected=head.rejected,
            sha256=record.sha256,
            split_key=record.split_key,
            field_count=record.field_count,
            file=self,
            start=start,
            length=length,
        )

    def read(self, start: int, length: int) -> bytes:
        """Return bytes that were written."""
        return os.pread(self._file.fileno(), length, start)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldResult:
    """The part of a result in memory while all documents are decided."""

    config: str
    rejected: Rejected | None
    #: Of the record; empty or 0 without one.
    sha256: str
    split_key: str
    field_count: int
    #: Where the whole of it is.
    file: ResultFile
    start: int
    length: int

    def whole(self) -> DocumentResult:
        """Return the whole result, read from the file."""
        text = self.file.read(self.start, self.length)
        return msgspec.json.decode(text, type=DocumentResult)


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One raw document, without its content."""

    config: str
    unique_id: str
    provenance: Provenance
    sha256: str
    #: Position of the distinct content among all that are worked on.
    content: int
    #: Instances that the source itself says are right, as JSON texts.
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DecidedDocument:
    """One raw document with its final decision."""

    source: SourceDocument
    result: HeldResult
    #: What the benchmark rules decided, or else the result's own rejection.
    rejected: Rejected | None
    #: Name of its near-duplicate cluster; empty until all are decided.
    cluster: str = ""
    #: One over the records of its config in the cluster.
    weight: float = 1.0

    @property
    def kept(self) -> bool:
        """Whether the document is a record of the benchmark."""
        return self.rejected is None

    @property
    def config(self) -> str:
        """The config it ended in, or would have."""
        return self.result.config

    @property
    def outcome(self) -> str:
        """`kept`, or the value of a `Reason`."""
        return KEPT if self.rejected is None else self.rejected.reason.value

    @property
    def split(self) -> str:
        """Its split; empty unless kept."""
        return split_of(self.result.split_key) if self.kept else ""

    def record(self, **columns: str | int | tuple[str, ...] | None) -> BenchmarkRecord:
        """Return the record with this document's own id, provenance and cluster.

        Args:
            columns: Further columns that it is given.

        Raises:
            ValueError: the document was rejected before it became one.
        """
        record = self.result.whole().record
        if record is None:
            raise ValueError(self.source.unique_id)
        return replace(
            record,
            unique_id=self.source.unique_id,
            **columns | msgspec.to_builtins(self.source.provenance),
            cluster=self.cluster or record.cluster,
            weight=self.weight,
        )

    def ledger_row(self) -> LedgerRow:
        """Return the document's row of the ledger."""
        from curation.dataset.ledger import LedgerRow  # noqa: PLC0415 (no worker needs pyarrow, which takes 0.2 s)

        result, rejected = self.result, self.rejected
        whole = result.whole()
        return LedgerRow(
            raw_config=self.source.config,
            config=self.config,
            unique_id=self.source.unique_id,
            **msgspec.to_builtins(self.source.provenance),
            raw_sha256=self.source.sha256,
            outcome=self.outcome,
            rule="" if rejected is None else rejected.rule,
            detail="" if rejected is None else rejected.detail,
            sha256=result.sha256,
            split=self.split,
            changes=whole.changes,
            **msgspec.to_builtins(whole.raw or {}),
        )
