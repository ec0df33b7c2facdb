"""The decisions that need every document at once, and the ledger's rows.

Results of distinct contents are given to the documents that have them, put in
benchmark order, and judged by the rule set's benchmark rules.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from curation.core.benchmark import CONFIGS, in_benchmark_order, natural_key
from curation.core.rule import Candidate
from curation.dataset.decisions import DecidedDocument
from curation.schema.near_duplicates import OnDemand, clusters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curation.dataset.decisions import HeldResult, SourceDocument
    from curation.rules.sets import RuleSet
    from curation.sources.base import Source


def decide_benchmark(
    documents: Iterable[SourceDocument],
    results: Mapping[int, HeldResult],
    rules: RuleSet,
    sources: Mapping[str, Source],
) -> list[DecidedDocument]:
    """Return every raw document with its final decision, in benchmark order.

    `in_clusters` adds what each has in common with others.

    Args:
        documents: All raw documents, in reading order.
        results: What the document rules made of each distinct content, by its position.
        rules: The rule set, whose benchmark rules decide here.
        sources: The sources by name, with their quotas.
    """
    pairs = [(document, results[document.content]) for document in documents]
    order = in_benchmark_order({result.config for _, result in pairs})
    ranks = {name: rank for rank, name in enumerate(order)}
    pairs.sort(key=lambda pair: (ranks[pair[1].config], natural_key(pair[0].unique_id)))
    decided = [
        DecidedDocument(document, result, result.rejected) for document, result in pairs
    ]
    for rule in rules.benchmark_rules:
        kept = [position for position, one in enumerate(decided) if one.kept]
        verdicts = rule.judge(
            [_candidate(decided[position], sources) for position in kept]
        )
        for index, rejected in verdicts.items():
            position = kept[index]
            decided[position] = replace(
                decided[position], rejected=replace(rejected, rule=rule.name)
            )
    return decided


def in_clusters(documents: Sequence[DecidedDocument]) -> list[DecidedDocument]:
    """Return the documents, those that were kept with their near-duplicate cluster."""
    decided = list(documents)
    kept = [position for position, document in enumerate(decided) if document.kept]
    names = clusters(
        [decided[position].result.sha256 for position in kept],
        OnDemand(len(kept), lambda place: decided[kept[place]].result.shingles()),
    )
    for position, name in zip(kept, names, strict=True):
        decided[position] = replace(decided[position], cluster=name)
    return decided


def _candidate(document: DecidedDocument, sources: Mapping[str, Source]) -> Candidate:
    source = sources[document.source.provenance.source]
    return Candidate(
        config=document.result.config,
        unique_id=document.source.unique_id,
        sha256=document.result.sha256,
        field_count=document.result.field_count,
        quota=source.quota,
        least_fields=source.least_fields,
        extra=document.result.config not in CONFIGS,
    )
