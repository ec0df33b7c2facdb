"""Compute every figure of an edition again from its rows, and compare: all digits.

Plain Python without csbdata's packages; pyarrow reads the file of rows. Exit code 1 if
a figure differs, and each that does is printed.

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

#: The two-sided 95 % quantile of the standard normal distribution.
Z = 1.959963984540054
SHARES = {"compiled": "compiled", "passed": "passed"}
TEXTS = {
    "valid_accepted": ("valid_accepted", "valid"),
    "invalid_blocked": ("invalid_blocked", "invalid"),
    "respelled_accepted": ("respelled_accepted", "respelled"),
}
TIMES = {
    "compile": "compile_ns",
    "first_mask": "first_mask_ns",
    "between": "between_ns",
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


def is_cut(row: dict[str, Any]) -> bool:
    """Return whether a deadline cut off the compile call."""
    return row["outcome"] == "timeout" and not row["compiled"]


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
    cuts = [row[column] for row in timed if column == "compile_ns" and is_cut(row)]
    bound = min(cuts, default=None)
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
    for name, column in SHARES.items():
        flags = [row[column] for row in rows if row[column] is not None]
        low, high = interval(sum(flags), len(flags))
        share = {"count": sum(flags), "of": len(flags), "low": low, "high": high}
        result[name] = share
    for name, (good, whole) in TEXTS.items():
        count, of = sum(r[good] for r in rows), sum(r[whole] for r in rows)
        result[name] = {"count": count, "of": of, "low": None, "high": None}
    for name, column in TIMES.items():
        result[name] = times(rows, column)
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
    for entry in index["engines"]:
        file = json.loads((folder / entry["file"]).read_text())
        for place, tasks in (
            (entry["file"], file["tasks"]),
            ("index.json", entry["tasks"]),
        ):
            for task, published in tasks.items():
                rows = parts.get((entry["engine"], task))
                ours = figures(rows) if rows else "not run"
                if published != "not run":
                    # What has no row cannot be counted here.
                    published.pop("undecided")
                if ours != published:
                    lines.append(f"{place}: {task}: {ours} here, {published} there")
    told = {
        (entry["engine"], task) for entry in index["engines"] for task in entry["tasks"]
    }
    lines += [f"rows of {part}, which no file has" for part in parts.keys() - told]
    return lines


if __name__ == "__main__":
    found = differences(Path(sys.argv[1]))
    print("\n".join(found) or "every figure is the same")
    sys.exit(bool(found))
