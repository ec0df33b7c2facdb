"""What was decided about each raw document: a record, or a reasoned rejection."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from curation.core.benchmark import split_of
from curation.dataset.ledger import KEPT, LedgerRow

if TYPE_CHECKING:
    from curation.core.documents import Change, Provenance, Rejected
    from curation.core.records import Record
    from curation.dataset.raw_figures import RawFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentResult:
    """The end of one document's way: a record, or a rejection with its reason."""

    config: str
    record: Record | None
    rejected: Rejected | None
    changes: tuple[Change, ...]
    #: Figures of the file as read, where the rule set counts by them.
    raw: RawFigures | None = None


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One raw document, without its content."""

    config: str
    unique_id: str
    provenance: Provenance
    sha256: str
    #: Position of the distinct content among all that are worked on.
    content: int


@dataclass(frozen=True, slots=True)
class DecidedDocument:
    """One raw document at the end of its way."""

    seen: SourceDocument
    outcome: DocumentResult
    #: What the benchmark rules said, on top of the outcome.
    rejected: Rejected | None

    @property
    def kept(self) -> bool:
        """Whether the document is a record of the benchmark."""
        return self.rejected is None

    def record(self) -> Record:
        """Return the record with this document's own id and provenance.

        Raises:
            ValueError: the document was rejected before it became one.
        """
        record = self.outcome.record
        if record is None:
            raise ValueError(self.seen.unique_id)
        own = self.seen.provenance
        return replace(
            record,
            unique_id=self.seen.unique_id,
            source=own.source,
            path=own.path,
            commit=own.commit,
            licence=own.licence,
            origin=own.origin.value,
        )

    def entry(self) -> LedgerRow:
        """Return the document's row of the ledger."""
        seen, record, rejected = self.seen, self.outcome.record, self.rejected
        own = seen.provenance
        figures = self.outcome.raw
        return LedgerRow(
            raw_config=seen.config,
            config=self.outcome.config,
            unique_id=seen.unique_id,
            source=own.source,
            path=own.path,
            commit=own.commit,
            licence=own.licence,
            origin=own.origin,
            raw_sha256=seen.sha256,
            outcome=KEPT if rejected is None else rejected.reason.value,
            rule="" if rejected is None else rejected.rule,
            detail="" if rejected is None else rejected.detail,
            sha256="" if record is None else record.sha256,
            split=split_of(record.skeleton_sha256) if record and self.kept else "",
            changes=self.outcome.changes,
            **({} if figures is None else asdict(figures)),
        )
