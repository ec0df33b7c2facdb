"""Compute every figure of an edition again from its rows, and compare: all digits.

Plain Python without csbdata's packages; pyarrow reads rows. Exit 1 if any differ.
Usage: python -m bench.edition.figures results/2026.11
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from math import ceil, floor, sqrt
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

Z = 1.959963984540054
TEXTS = {
    "valid_accepted": ("valid_accepted", "valid"),
    "invalid_blocked": ("invalid_blocked", "invalid"),
}


def interval(count: int, of: int) -> tuple[float | None, float | None]:
    """Return Wilson's interval of a share, with six digits."""
    if not of:
        return None, None
    share, square = count / of, Z * Z
    middle = share + square / (2 * of)
    spread = Z * sqrt(share * (1 - share) / of + square / (4 * of * of))
    scale = 1 + square / of
    low = 0.0 if count == 0 else min(share, (middle - spread) / scale)
    high = 1.0 if count == of else max(share, (middle + spread) / scale)
    return round(low, 6), round(high, 6)


def quantile(
    values: list[float], bound: float | None, percent: float
) -> tuple[float, bool]:
    """Return a quantile (Hyndman and Fan, 7), and whether it is at least that."""
    place = (len(values) - 1) * percent / 100
    low, high = float(values[floor(place)]), float(values[ceil(place)])
    value = low + (high - low) * (place - floor(place))
    return value, bound is not None and bound <= high


def times(rows: list[dict[str, Any]], column: str) -> dict[str, Any] | None:
    """Return the quantiles of a column."""
    timed = [row for row in rows if row[column] is not None]
    if not timed:
        return None
    values = sorted(float(row[column]) for row in timed)
    late = [row for row in timed if row["outcome"] == "timeout" and not row["compiled"]]
    cuts = [row[column] for row in late]
    # Only a compile call is given the time at which a deadline cut it off.
    bound = min(cuts, default=None) if column == "compile_ns" else None
    median, median_at_least = quantile(values, bound, 50)
    high, high_at_least = quantile(values, bound, 95)
    return {
        "of": len(values),
        "median_ns": median,
        "p95_ns": high,
        "median_at_least": median_at_least,
        "p95_at_least": high_at_least,
    }


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of one engine and task."""
    result: dict[str, Any] = {
        "asked": len(rows),
        "outcomes": dict(Counter(row["outcome"] for row in rows)),
    }
    for name in ("compiled", "passed"):
        flags = [row[name] for row in rows if row[name] is not None]
        low, high = interval(sum(flags), len(flags))
        result[name] = {"count": sum(flags), "of": len(flags), "low": low, "high": high}
    for name, (good, whole) in TEXTS.items():
        count, of = sum(r[good] for r in rows), sum(r[whole] for r in rows)
        result[name] = {"count": count, "of": of, "low": None, "high": None}
    for name in ("compile", "first_mask", "between"):
        result[name] = times(rows, f"{name}_ns")
    return result


def differences(folder: Path) -> list[str]:
    """Return every figure that is another one, a line each."""
    parts: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in pq.read_table(folder / "rows.parquet").to_pylist():
        parts[row["engine"], row["task"]].append(row)
    index = json.loads((folder / "index.json").read_text())
    lines = []
    if sum(map(len, parts.values())) != index["rows"]["rows.parquet"]:
        lines.append("rows.parquet: another number of rows")
    asked = [
        {(row["config"], row["id"]) for row in rows}
        for (_, task), rows in parts.items()
        if task == "masks"
    ]
    common = set.intersection(*asked) if asked else set()
    for entry in index["engines"]:
        own = [
            row
            for row in parts.get((entry["engine"], "masks"), [])
            if (row["config"], row["id"]) in common
        ]
        if entry["common"] != (figures(own) | {"undecided": 0} if own else "not run"):
            lines.append(f"index.json: {entry['engine']} on the common records")
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
