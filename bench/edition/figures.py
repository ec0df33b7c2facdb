"""Compute every figure of an edition again from its rows, and compare: all digits.

By the rule in docs/results.md ("The headline"), in plain Python without csbdata's
packages; pyarrow reads rows. Exit 1 if any differ.
Usage: python -m bench.edition.figures results/2026.11
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
from collections import Counter, defaultdict
from math import fsum, isclose
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

#: Schemas that a percentile of 99 needs.
FOR_P99 = 100
#: Column of the headline to the outcomes that it counts.
OUTCOMES = {
    "refused": {"compile_error"},
    "accepts_invalid": {"under_constrained", "wrong_both_ways"},
    "blocks_valid": {"over_constrained", "mask_gap"},
    "limited": {"timeout", "out_of_memory"},
}


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of one engine and task in the index."""
    result: dict[str, Any] = {
        "asked": len(rows),
        "outcomes": dict(Counter(row["outcome"] for row in rows)),
    }
    tested = [row["passed"] for row in rows if row["passed"] is not None]
    return result | {"passed": sum(tested), "tested": len(tested)}


def violates_format_alone(row: dict[str, Any]) -> bool:
    """Return whether every wrong text is an accepted one that violates `format`."""
    classes = [name.split("; ") for name in row["why"].split(" | ")]
    return row["outcome"] == "under_constrained" and all(
        parts[0] == "accepted to its end" and parts[1:2] == ["format"]
        for parts in classes
    )


def counts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what became of the schemas of one engine."""
    ended = Counter(row["outcome"] for row in rows)
    passed = [row for row in rows if row["passed"]]
    others = [row for row in rows if not row["passed"]]
    so_far = [
        row
        for row in others
        if row["outcome"] in OUTCOMES["limited"]
        and not row["wrong"]
        and row["passed"] is not None
    ]
    accepting = [row for row in rows if row["outcome"] in OUTCOMES["accepts_invalid"]]
    warned = [row["warned"] for row in accepting]
    result: dict[str, Any] = {
        "asked": len(rows),
        "tested": sum(row["passed"] is not None for row in rows),
        "passed": len(passed),
        "without_limits": len(passed) + len(so_far),
        "without_formats": len(passed) + sum(map(violates_format_alone, others)),
        "compiled": sum(row["compiled"] for row in rows),
        "warned": None if None in warned else sum(warned),
    }
    for name, kinds in OUTCOMES.items():
        result[name] = sum(ended[kind] for kind in kinds)
    named = set().union(*OUTCOMES.values())
    result["failed"] = sum(row["outcome"] not in named | {"untested"} for row in others)
    return result


def is_timed(row: dict[str, Any]) -> bool:
    """Return whether an engine compiled a schema and computed a first mask for it."""
    return bool(row["compiled"]) and row["first_mask_ns"] is not None


def compared(rows: list[dict[str, Any]]) -> tuple[set[tuple[str, str]], set[str]]:
    """Return the schemas of which times are shown, and the engines apart."""
    timed: dict[str, set[tuple[str, str]]] = {row["engine"]: set() for row in rows}
    for row in filter(is_timed, rows):
        timed[row["engine"]].add((row["config"], row["id"]))
    apart: set[str] = set()
    while True:
        shown = sorted(timed.keys() - apart)
        if len(shown) < 2:  # noqa: PLR2004 (nothing to share with)
            break
        ratios = []
        for engine in shown:
            shared = set.intersection(*(timed[it] for it in shown if it != engine))
            own = len(shared & timed[engine])
            ratios.append((own / len(shared) if shared else 1.0, engine))
        share, engine = min(ratios)
        if share >= 0.5:  # noqa: PLR2004 (half)
            break
        apart.add(engine)
    return set.intersection(*(timed[engine] for engine in shown)), apart


def times(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the times of one engine on the compared schemas."""
    masks = [(row["between_ns"], row["tokens"]) for row in rows if row["tokens"]]
    values = {
        "compile": [row["compile_ns"] for row in rows],
        "first": [row["compile_ns"] + row["first_mask_ns"] for row in rows],
        "mask": [row["between_ns"] for row in rows if row["between_ns"] is not None],
    }
    result: dict[str, Any] = {
        "schemas": len(rows),
        "cut_off": sum(row["outcome"] == "timeout" for row in rows),
    }
    for name, own in values.items():
        cuts = statistics.quantiles(own, n=100, method="inclusive") if own[1:] else []
        result[f"{name}_median"] = statistics.median(own) if own else None
        result[f"{name}_mean"] = fsum(own) / len(own) if own else None
        result[f"{name}_p99"] = cuts[98] if len(rows) >= FOR_P99 else None
    total = sum(tokens for _, tokens in masks)
    result["mask_mean"] = fsum(ns * n for ns, n in masks) / total if total else None
    return result


def headline(rows: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the headline, by config and engine."""
    engines = {row["engine"] for row in rows}
    askers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        askers[row["config"], row["id"]].add(row["engine"])
    rows = [row for row in rows if askers[row["config"], row["id"]] == engines]
    schemas, apart = compared(rows)
    parts: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        parts["all", row["engine"]].append(row)
        parts[row["config"], row["engine"]].append(row)
    found = {}
    for (config, engine), own in parts.items():
        line = counts(own) | {"apart": engine in apart}
        timed = [
            row
            for row in own
            if is_timed(row) and (row["config"], row["id"]) in schemas
        ]
        found[config, engine] = line | (times(timed) if timed else {})
    return found


def is_same(ours: Any, text: str) -> bool:  # noqa: ANN401 - any figure
    """Return whether a cell of the file is this figure, to twelve digits."""
    if ours is None or not text:
        return ours is None and not text
    if isinstance(ours, bool):
        return text == str(ours).lower()
    return isclose(float(text), ours, rel_tol=1e-12)


def headline_differences(folder: Path, rows: list[dict[str, Any]]) -> list[str]:
    """Return the figures of `headline.csv` that are others, a line each."""
    ours = headline([row for row in rows if row["task"] == "masks"])
    lines = []
    with (folder / "headline.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            key = line.pop("config"), line.pop("engine")
            own = ours.pop(key, {})
            lines += [
                f"headline.csv: {key} {name}: {own.get(name)} here, {text} there"
                for name, text in line.items()
                if not is_same(own.get(name), text)
            ]
    return lines + [f"headline.csv: no line of {key}" for key in ours]


def differences(folder: Path) -> list[str]:
    """Return every figure that is another one, a line each."""
    parts: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    every = pq.read_table(folder / "rows.parquet").to_pylist()
    for row in every:
        parts[row["engine"], row["task"]].append(row)
    index = json.loads((folder / "index.json").read_text())
    lines = headline_differences(folder, every)
    if len(every) != index["rows"]["rows.parquet"]:
        lines.append("rows.parquet: another number of rows")
    for entry in index["engines"]:
        for task, published in entry["tasks"].items():
            rows = parts.get((entry["engine"], task))
            ours = figures(rows) if rows else "not run"
            if published != "not run":
                # What has no row cannot be counted here.
                published.pop("undecided")
            if ours != published:
                lines.append(f"index.json: {task}: {ours} here, {published} there")
    told = {
        (entry["engine"], task) for entry in index["engines"] for task in entry["tasks"]
    }
    lines += [f"rows of {part}, not in the index" for part in parts.keys() - told]
    return lines


if __name__ == "__main__":
    found = differences(Path(sys.argv[1]))
    print("\n".join(found) or "every figure is the same")
    sys.exit(bool(found))
