"""Count the figures of a build from its ledger and tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq

from curation.core.benchmark import SPLITS, in_benchmark_order, instances_folder
from curation.core.documents import KEPT, Origin, Reason
from curation.dataset.ledger import Ledger, open_ledger
from curation.dataset.parquet import split_files
from curation.dataset.summary import ConfigSummary, Summary

if TYPE_CHECKING:
    from curation.packaging.manifest import BuildFacts


def recount(facts: BuildFacts, folder: Path) -> Summary:
    """Return the facts of a build with the figures of its files.

    Raises:
        NoInput: the folder holds no ledger.
        OSError: a file cannot be read.
    """
    configs = recount_configs(open_ledger(folder))
    return Summary(
        rules=facts.rules,
        rule_notes=tuple(facts.rule_list),
        configs=configs,
        extras=frozenset(facts.extras),
        pins=tuple(facts.pins),
        instances=recount_instances(folder, (config.config for config in configs)),
        partial=tuple(facts.partial),
        repository=facts.repository,
        options=tuple(facts.options),
    )


def recount_configs(ledger: Ledger) -> tuple[ConfigSummary, ...]:
    """Return the figures of each config, in benchmark order, from the ledger."""
    documents = ledger.documents()
    kept = documents.filter(pl.col("outcome") == KEPT)
    edits = ledger.changes().select("document", "rule").unique()
    rejected = documents.filter(pl.col("outcome") != KEPT)
    counted = pl.collect_all(
        [
            documents.group_by("config", "origin").len(),
            rejected.group_by("config", "outcome").len(),
            kept.group_by("config", "split").len(),
            kept.select("document", "config")
            .join(edits, on="document")
            .group_by("config", "rule")
            .len(),
        ]
    )
    tallies = [_nested(counts) for counts in counted]
    summaries = []
    for config in in_benchmark_order(tallies[0]):
        origins, outcomes, splits, changes = (
            tally.get(config, {}) for tally in tallies
        )
        summaries.append(
            ConfigSummary(
                config=config,
                origin="+".join(origin for origin in Origin if origin in origins),
                raw=sum(origins.values()),
                kept=sum(splits.values()),
                rejected={
                    reason.value: outcomes[reason.value]
                    for reason in Reason
                    if reason in outcomes
                },
                changed=dict(sorted(changes.items())),
                splits={split: splits.get(split, 0) for split in SPLITS},
            )
        )
    return tuple(summaries)


def _nested(counts: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Return a nested mapping, config to name to count, of three columns."""
    nested: dict[str, dict[str, int]] = {}
    for config, name, count in counts.iter_rows():
        nested.setdefault(config, {})[name] = count
    return nested


def recount_instances(
    folder: Path, configs: Iterable[str]
) -> dict[str, dict[str, int]]:
    """Return config to split to number of instances, of configs with instances.

    Raises:
        OSError: a file of instances cannot be read.
    """
    return {
        config: {
            split: sum(
                int(pq.read_metadata(folder / path).num_rows)
                for path in split_files(folder, instances_folder(config), split)
            )
            for split in SPLITS
        }
        for config in configs
        if (folder / instances_folder(config)).is_dir()
    }
