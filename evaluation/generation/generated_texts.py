"""The texts of a run, by engine and config, as reports want them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.benchmark import in_benchmark_order
from evaluation.generation.generation_rows import TASK, GeneratedText, text_from_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evaluation.core.task import RunRows

#: The line over all configs.
ALL = "all"


def texts(run: RunRows) -> dict[str, list[GeneratedText]]:
    """Return every engine's texts, engines in the order of the header."""
    found: dict[str, list[GeneratedText]] = {
        str(each["engine"]): [] for each in run.header.get("engines") or ()
    }
    for row in run.rows():
        if row.task == TASK:
            found.setdefault(row.engine, []).append(text_from_row(row))
    return {engine: listed for engine, listed in found.items() if listed}


def configs_of(sides: Mapping[str, Sequence[GeneratedText]]) -> list[str]:
    """Return the configs of all engines, in the benchmark's order, and `all`."""
    names = {each.config for side in sides.values() for each in side}
    ordered = list(in_benchmark_order(names))
    return [*ordered, ALL] if len(ordered) > 1 else ordered


def on_the_same(
    sides: Mapping[str, Sequence[GeneratedText]],
) -> dict[str, dict[tuple[str, str, int], GeneratedText]]:
    """Return each engine's texts on what all of them wrote to an end.

    The paper compares times on the intersection of covered instances (its section
    4.1): an engine that only takes easy schemas looks no faster for it.
    """
    covered = {
        engine: {_key(each): each for each in side if each.generation.generated}
        for engine, side in sides.items()
    }
    common = set.intersection(*map(set, covered.values())) if covered else set()
    return {
        engine: {key: found[key] for key in sorted(common)}
        for engine, found in covered.items()
    }


def _key(text: GeneratedText) -> tuple[str, str, int]:
    return text.config, text.subject, text.sample


def of_config(listed: Iterable[GeneratedText], config: str) -> Iterator[GeneratedText]:
    """Yield the texts of one config, or of all."""
    return (each for each in listed if config in (ALL, each.config))
