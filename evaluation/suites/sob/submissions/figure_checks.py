"""Checks of submitted figures: in range, and what the answers give when scored anew."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final

from curation.json.values import is_number
from evaluation.suites.sob.metrics.names import PUBLISHED_KEYS, Metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import Json

#: By how much a submitted figure may differ from the one computed here.
TOLERANCE: Final = 1e-3


def range_complaints(where: str, value: Json, name: str = "") -> Iterator[str]:
    """Yield one line for each metric, mean or bound that is no figure of [0, 1].

    Args:
        where: The file, and its line.
        value: What stands there; it is searched at every depth.
        name: What it is called.
    """
    if isinstance(value, dict):
        for key, member in value.items():
            yield from range_complaints(where, member, f"{name}.{key}".strip("."))
        yield from _order(where, value, name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from range_complaints(where, item, f"{name}[{index}]")
    elif _is_figure(name) and not (
        is_number(value) and isfinite(value) and 0 <= value <= 1
    ):
        yield f"{where}: {name} is {value!r}, no figure from 0 to 1"


def _is_figure(name: str) -> bool:
    parts = name.split(".")
    last = parts[-1]
    in_metric = any(key in parts for key in PUBLISHED_KEYS.values())
    return last in {"mean", "ci95_low", "ci95_high"} or (
        in_metric and last in PUBLISHED_KEYS.values()
    )


def _order(where: str, value: Mapping[str, Json], name: str) -> Iterator[str]:
    low, mean, high = (value.get(key) for key in ("ci95_low", "mean", "ci95_high"))
    if not (is_number(low) and is_number(mean) and is_number(high)):
        return
    if not low - TOLERANCE <= mean <= high + TOLERANCE:
        yield f"{where}: {name}: the mean {mean} is outside [{low}, {high}]"


def record_complaints(
    where: str, row: Mapping[str, Json], computed: Mapping[str, Mapping[Metric, float]]
) -> Iterator[str]:
    """Yield one line for each figure of a record that its answer does not give.

    Args:
        where: The file and line of the row.
        row: A row of `eval_records.jsonl`: the id and the metrics, at any depth.
        computed: Every metric of every answer, by record, scored anew.
    """
    flat = dict(_flat(row))
    record = str(flat.get("record_id", ""))
    if record not in computed:
        yield f"{where}: figures of record {record[:16]!r}, which has no answer"
        return
    for metric, key in PUBLISHED_KEYS.items():
        submitted, ours = flat.get(key), computed[record][metric]
        if is_number(submitted) and abs(submitted - ours) > TOLERANCE:
            yield f"{where}: {key} is {submitted}; its answer gives {ours:.4f}"


def summary_complaints(
    where: str, summary: Json, means: Mapping[bool, Mapping[Metric, float]]
) -> Iterator[str]:
    """Yield one line for each mean that the answers do not give.

    Args:
        where: The file.
        summary: The content of `eval_summary.json`.
        means: The means computed here: weighted under True, plain under False.
    """
    for kind, weighted in (("overall", False), ("overall_weighted", True)):
        metrics = _member(_member(_member(summary, "summary"), kind), "metrics")
        for metric, key in PUBLISHED_KEYS.items():
            submitted = _member(_member(metrics, key), "mean")
            ours = means[weighted].get(metric)
            if not is_number(submitted) or ours is None:
                continue
            if abs(submitted - ours) > TOLERANCE:
                where_at = f"{where}: {kind}.{key}"
                yield f"{where_at} is {submitted}; the answers give {ours:.4f}"


def _member(value: Json, name: str) -> Json:
    return value.get(name) if isinstance(value, dict) else None


def _flat(row: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value)
        else:
            yield name, value
