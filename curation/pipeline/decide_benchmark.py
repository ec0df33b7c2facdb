"""The decisions that need every document at once, and the ledger's rows.

Outcomes of distinct contents are dealt out to the documents that have them, put
in benchmark order, and judged by the rule set's benchmark rules.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from curation.core.benchmark import CONFIGS, in_benchmark_order, natural_key, split_of
from curation.core.rule import Candidate
from curation.dataset.ledger import KEPT, Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curation.core.documents import Rejected
    from curation.core.records import Record
    from curation.pipeline.process_document import Outcome
    from curation.pipeline.read_batches import Seen
    from curation.rules.sets import RuleSet
    from curation.sources.base import Source


@dataclass(frozen=True, slots=True)
class Settled:
    """One raw document at the end of its way."""

    seen: Seen
    outcome: Outcome
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

    def entry(self) -> Entry:
        """Return the document's row of the ledger."""
        seen, record, rejected = self.seen, self.outcome.record, self.rejected
        own = seen.provenance
        figures = self.outcome.raw
        return Entry(
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


def settle(
    seen: Iterable[Seen],
    outcomes: Sequence[Outcome],
    rules: RuleSet,
    sources: Mapping[str, Source],
) -> list[Settled]:
    """Return every raw document with its final decision, in benchmark order."""
    dealt = [(each, outcomes[each.content]) for each in seen]
    ranks = {
        name: rank
        for rank, name in enumerate(
            in_benchmark_order({outcome.config for _, outcome in dealt})
        )
    }
    dealt.sort(key=lambda pair: (ranks[pair[1].config], natural_key(pair[0].unique_id)))
    settled = [Settled(each, outcome, outcome.rejected) for each, outcome in dealt]
    for rule in rules.benchmark_rules:
        alive = [position for position, each in enumerate(settled) if each.kept]
        verdicts = rule.judge([_candidate(settled[each], sources) for each in alive])
        for index, rejected in verdicts.items():
            position = alive[index]
            settled[position] = replace(
                settled[position], rejected=replace(rejected, rule=rule.name)
            )
    return settled


def _candidate(settled: Settled, sources: Mapping[str, Source]) -> Candidate:
    record = settled.outcome.record
    if record is None:
        raise ValueError(settled.seen.unique_id)
    source = sources[settled.seen.provenance.source]
    return Candidate(
        config=settled.outcome.config,
        unique_id=settled.seen.unique_id,
        sha256=record.sha256,
        field_count=record.field_count,
        quota=source.quota,
        least_fields=source.least_fields,
        extra=settled.outcome.config not in CONFIGS,
    )
