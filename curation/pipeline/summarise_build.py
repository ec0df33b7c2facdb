"""The facts of a build that cannot be counted from its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.benchmark import CONFIGS, in_benchmark_order
from curation.dataset.summary import RuleNote, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from curation.pipeline.inputs import BuildInput, MissingSource
    from curation.rules.sets import RuleSet


def summary_of(
    options: tuple[str, ...],
    rules: RuleSet,
    inputs: Sequence[BuildInput],
    missing: Sequence[MissingSource],
    configs: Iterable[str],
) -> Summary:
    """Return what the card and the manifest say of the build.

    Args:
        options: What was asked beside the rules.
        rules: The rule set.
        inputs: What was read.
        missing: Sources that could not be had.
        configs: The config of each document.
    """
    whys: dict[str, list[str]] = {}
    for given in inputs:
        if given.partial:
            whys.setdefault(given.partial, []).extend(given.configs)
    for absent in missing:
        whys.setdefault(f"missing ({absent.why})", []).extend(absent.configs)
    partial = tuple(
        f"{', '.join(in_benchmark_order(incomplete))}: {why}."
        for why, incomplete in whys.items()
    )
    return Summary(
        rules=rules.name,
        rule_notes=tuple(
            RuleNote(name=rule.name, summary=rule.summary, source=rule.source)
            for rule in rules.all_rules
        ),
        extras=frozenset(configs) - frozenset(CONFIGS),
        pins=tuple(given.pin for given in inputs),
        partial=partial,
        options=options,
    )
