"""What was decided about each raw document: a record, or a reasoned rejection."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from curation.core.benchmark import split_of
from curation.core.documents import Change, Rejected  # noqa: TC001 (read by msgspec)
from curation.core.records import Record  # noqa: TC001 (as above)
from curation.dataset.ledger import KEPT, LedgerRow
from curation.dataset.raw_figures import RawFigures  # noqa: TC001 (as above)

if TYPE_CHECKING:
    from curation.core.documents import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentResult:
    """What the rules made of one document: a record, or a rejection with its reason."""

    config: str
    record: Record | None
    rejected: Rejected | None
    changes: tuple[Change, ...]
    #: Figures of the file as read, where the rule set counts by them.
    raw: RawFigures | None = None
    #: The record's shingles (`curation.schema.similarity.shingles.shingles`).
    shingles: bytes = b""


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
    """One raw document with what was finally decided about it."""

    source: SourceDocument
    result: DocumentResult
    #: What the benchmark rules decided, or else the result's own rejection.
    rejected: Rejected | None
    #: Name of its near-duplicate cluster; empty until all are decided.
    cluster: str = ""

    @property
    def kept(self) -> bool:
        """Whether the document is a record of the benchmark."""
        return self.rejected is None

    def record(self) -> Record:
        """Return the record with this document's own id, provenance and cluster.

        Raises:
            ValueError: the document was rejected before it became one.
        """
        record = self.result.record
        if record is None:
            raise ValueError(self.source.unique_id)
        own = self.source.provenance
        return replace(
            record,
            unique_id=self.source.unique_id,
            source=own.source,
            path=own.path,
            commit=own.commit,
            licence=own.licence,
            original_repository=own.original_repository,
            origin=own.origin.value,
            cluster=self.cluster or record.cluster,
        )

    def ledger_row(self) -> LedgerRow:
        """Return the document's row of the ledger."""
        record, rejected = self.result.record, self.rejected
        own = self.source.provenance
        figures = self.result.raw
        return LedgerRow(
            raw_config=self.source.config,
            config=self.result.config,
            unique_id=self.source.unique_id,
            source=own.source,
            path=own.path,
            commit=own.commit,
            licence=own.licence,
            original_repository=own.original_repository,
            origin=own.origin,
            raw_sha256=self.source.sha256,
            outcome=KEPT if rejected is None else rejected.reason.value,
            rule="" if rejected is None else rejected.rule,
            detail="" if rejected is None else rejected.detail,
            sha256="" if record is None else record.sha256,
            split=split_of(record.split_key) if record and self.kept else "",
            changes=self.result.changes,
            **({} if figures is None else asdict(figures)),
        )
