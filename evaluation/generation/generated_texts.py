"""The generated texts of a run, by engine and config, for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.benchmark import in_benchmark_order
from evaluation.generation.generation_rows import TASK, GeneratedText, text_from_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evaluation.core.task import RunRows

#: The line over all configs.
ALL = "all"


def texts_by_engine(run: RunRows) -> dict[str, list[GeneratedText]]:
    """Return every engine's texts, engines in the order of the header."""
    found: dict[str, list[GeneratedText]] = {
        engine.engine: [] for engine in run.header.engines
    }
    for row in run.rows():
        if row.task == TASK:
            found.setdefault(row.engine, []).append(text_from_row(row))
    return {engine: listed for engine, listed in found.items() if listed}


def configs_of_texts(sides: Mapping[str, Sequence[GeneratedText]]) -> list[str]:
    """Return the configs of all engines, in the benchmark's order, and `all`."""
    names = {text.config for side in sides.values() for text in side}
    ordered = list(in_benchmark_order(names))
    return [*ordered, ALL] if len(ordered) > 1 else ordered


def on_common_samples(
    sides: Mapping[str, Sequence[GeneratedText]],
) -> dict[str, dict[tuple[str, str, int], GeneratedText]]:
    """Return each engine's texts for the samples that all engines wrote a text for.

    The paper compares times on the intersection of covered instances (its section
    4.1): an engine that only takes easy schemas looks no faster for it.
    """
    covered = {
        engine: {_key(text): text for text in side if text.generation.generated}
        for engine, side in sides.items()
    }
    common = set.intersection(*map(set, covered.values())) if covered else set()
    return {
        engine: {key: found[key] for key in sorted(common)}
        for engine, found in covered.items()
    }


def _key(text: GeneratedText) -> tuple[str, str, int]:
    return text.config, text.subject, text.sample


def texts_of_config(
    listed: Iterable[GeneratedText], config: str
) -> Iterator[GeneratedText]:
    """Yield the texts of one config, or of all."""
    return (text for text in listed if config in (ALL, text.config))
