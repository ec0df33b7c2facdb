"""Decisions on raw documents: a record, or a rejection with its reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import assign_split
from curation.core.documents import KEPT, Change, Provenance, Rejected
from curation.core.records import BenchmarkRecord
from curation.dataset.paper_tables import RawFigures

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
    """The part of a `DocumentResult` held in memory."""

    config: str
    record: RecordHead | None
    rejected: Rejected | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldResult:
    """The part of a result in memory while all documents are decided."""

    config: str
    rejected: Rejected | None
    #: The record's; empty or 0 without one.
    sha256: str
    split_key: str
    field_count: int
    #: The file with the whole of it as JSON, and its place in the file.
    path: Path
    start: int
    length: int

    def whole(self) -> DocumentResult:
        """Return the whole result, read from the file."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            text = os.pread(descriptor, self.length, self.start)
        finally:
            os.close(descriptor)
        return msgspec.json.decode(text, type=DocumentResult)


def held_results(path: Path, batch: bytes) -> Iterator[HeldResult]:
    """Yield the part of each result of a batch that stays in memory.

    Args:
        path: The file that ends with the batch.
        batch: The results as compact JSON: an array of `DocumentResult`.
    """
    start = path.stat().st_size - len(batch) + 1
    for text in msgspec.json.decode(batch, type=list[msgspec.Raw]):
        head = msgspec.json.decode(text, type=ResultHead)
        record = head.record or RecordHead()
        length = len(memoryview(text))
        yield HeldResult(
            config=head.config,
            rejected=head.rejected,
            sha256=record.sha256,
            split_key=record.split_key,
            field_count=record.field_count,
            path=path,
            start=start,
            length=length,
        )
        start += length + 1


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One raw document, without its content."""

    config: str
    unique_id: str
    provenance: Provenance
    sha256: str
    #: Position of the distinct content among all contents.
    content: int
    #: Instances declared valid by the source itself, as JSON texts.
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DecidedDocument:
    """One raw document with its final decision."""

    source: SourceDocument
    result: HeldResult
    #: The decision of the benchmark rules, otherwise the result's rejection.
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
        return assign_split(self.result.split_key) if self.kept else ""

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
        measured = result.whole()
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
            changes=measured.changes,
            **msgspec.to_builtins(measured.raw or {}),
        )
