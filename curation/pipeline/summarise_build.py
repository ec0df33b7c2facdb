"""What the card and the manifest say of a build, beside its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.benchmark import CONFIGS, in_benchmark_order
from curation.dataset.summary import ConfigSummary, RuleNote, Summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.pipeline.inputs import BuildInput, MissingSource
    from curation.rules.sets import RuleSet


def summary_of(
    options: tuple[str, ...],
    rules: RuleSet,
    inputs: Sequence[BuildInput],
    missing: Sequence[MissingSource],
    configs: tuple[ConfigSummary, ...],
) -> Summary:
    """Return what the card and the manifest say of the build.

    Args:
        options: What was asked beside the rules.
        rules: The rule set.
        inputs: What was read.
        missing: Sources that could not be had.
        configs: Counts of each config.
    """
    whys: dict[str, list[str]] = {}
    for given in inputs:
        if given.partial:
            whys.setdefault(given.partial, []).extend(given.configs)
    for absent in missing:
        whys.setdefault(f"missing ({absent.why})", []).extend(absent.configs)
    partial = tuple(
        f"{', '.join(in_benchmark_order(configs))}: {why}."
        for why, configs in whys.items()
    )
    return Summary(
        rules=rules.name,
        rule_notes=tuple(
            RuleNote(name=rule.name, summary=rule.summary, source=rule.source)
            for rule in rules.all_rules
        ),
        configs=configs,
        extras=frozenset(config.config for config in configs) - frozenset(CONFIGS),
        pins=tuple(given.pin for given in inputs),
        partial=partial,
        options=options,
    )
