"""Remarks on data that is not the published benchmark: the sample, missing configs."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from curation.packaging.manifest import read_origins
from curation.system.errors import BadData


def partial_lines(folder: Path, configs: Collection[str]) -> tuple[str, ...]:
    """Return why figures on a build are not those of the benchmark, a line each.

    Args:
        folder: A build, or any folder.
        configs: The configs that are measured; empty for all.

    Returns:
        Nothing where every config that is measured is real, or the folder says
        nothing of where it comes from.
    """
    try:
        origins = read_origins(folder)
    except BadData as fault:
        return (f"which configs are real is not known: {fault}",)
    if origins is None or not origins.partial:
        return ()
    if not configs:
        return (origins.sentence, *origins.reasons)
    sample = [config for config in origins.sample if config in configs]
    lines = [f"the embedded sample stands for {', '.join(sample)}"] if sample else []
    return (*lines, *(why for why in origins.reasons if _is_of(why, configs)))


def _is_of(reason: str, configs: Collection[str]) -> bool:
    return any(config in reason for config in configs)


#: Of the sample itself, which was written for this project.
SAMPLE_LINE = "the embedded sample: none of its schemas is one of the benchmark"
