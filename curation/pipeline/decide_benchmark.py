"""The decisions that need every document at once, and the ledger's rows.

Outcomes of distinct contents are dealt out to the documents that have them, put
in benchmark order, and judged by the rule set's benchmark rules.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from curation.core.benchmark import CONFIGS, in_benchmark_order, natural_key
from curation.core.rule import Candidate
from curation.dataset.decisions import DecidedDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curation.dataset.decisions import DocumentResult, SourceDocument
    from curation.rules.sets import RuleSet
    from curation.sources.base import Source


def settle(
    seen: Iterable[SourceDocument],
    outcomes: Sequence[DocumentResult],
    rules: RuleSet,
    sources: Mapping[str, Source],
) -> list[DecidedDocument]:
    """Return every raw document with its final decision, in benchmark order."""
    dealt = [(each, outcomes[each.content]) for each in seen]
    ranks = {
        name: rank
        for rank, name in enumerate(
            in_benchmark_order({outcome.config for _, outcome in dealt})
        )
    }
    dealt.sort(key=lambda pair: (ranks[pair[1].config], natural_key(pair[0].unique_id)))
    settled = [
        DecidedDocument(each, outcome, outcome.rejected) for each, outcome in dealt
    ]
    for rule in rules.benchmark_rules:
        alive = [position for position, each in enumerate(settled) if each.kept]
        verdicts = rule.judge([_candidate(settled[each], sources) for each in alive])
        for index, rejected in verdicts.items():
            position = alive[index]
            settled[position] = replace(
                settled[position], rejected=replace(rejected, rule=rule.name)
            )
    return settled


def _candidate(settled: DecidedDocument, sources: Mapping[str, Source]) -> Candidate:
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
