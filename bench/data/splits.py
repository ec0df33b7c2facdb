"""Splits: shares of each config, and test records that have a twin in train.

Twins share nine of ten pairs of path and value (Jaccard index at least 0.9): paths
without positions in arrays, annotations left out. Every pair of records is asked, by
prefix filtering (Bayardo et al., "Scaling up all pairs similarity search", 2007), which
loses none. Nothing here is what the splitter uses.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.core.json_types import Json

SHARES = {"train": 60, "val": 10, "test": 30}
#: A config of fewer records has no share to speak of.
LEAST_RECORDS = 300
TWIN = 0.9
_ANNOTATIONS = {"title", "description", "$comment", "default", "examples"}
_ANNOTATIONS |= {"deprecated", "readOnly", "writeOnly", "id", "$id", "$schema"}
_NAMED = {"properties", "patternProperties", "definitions", "$defs"}
_NAMED |= {"dependencies", "dependentSchemas"}
_DATA = {"enum", "const"}
Pair = tuple[str, str]


def add_options(_group: argparse._ArgumentGroup) -> None:
    """Add nothing: the build is an option of all parts."""


def pairs(value: Json, path: str = "", kind: str = "schema") -> Iterator[Pair]:
    """Yield path and value of every leaf of a schema, its annotations left out."""
    if isinstance(value, dict) and value:
        for name, member in value.items():
            if kind == "schema" and name in _ANNOTATIONS:
                continue
            inner = "schema" if kind == "names" else kind
            if kind == "schema" and name in _NAMED:
                inner = "names"
            elif kind == "schema" and name in _DATA:
                inner = "data"
            yield from pairs(member, f"{path}\0{name}", inner)
    elif isinstance(value, list) and value:
        for item in value:
            yield from pairs(item, path, kind)
    else:
        yield path, json.dumps(value, sort_keys=True)


def twins(records: Sequence[frozenset[Pair]]) -> Iterator[tuple[int, int]]:
    """Yield the positions of each two records that are twins."""
    frequency = Counter(pair for record in records for pair in record)
    ranks = {pair: (count, pair) for pair, count in frequency.items()}
    holders: defaultdict[Pair, list[int]] = defaultdict(list)
    for one in sorted(range(len(records)), key=lambda place: len(records[place])):
        size = len(records[one])
        prefix = sorted(records[one], key=ranks.__getitem__)
        prefix = prefix[: size - math.ceil(TWIN * size) + 1]
        candidates = {other for pair in prefix for other in holders[pair]}
        for pair in prefix:
            holders[pair].append(one)
        for other in candidates:
            if len(records[other]) < TWIN * size:
                continue
            common = len(records[one] & records[other])
            if common >= TWIN * (size + len(records[other]) - common):
                yield other, one


def leaks(splits: Sequence[str], records: Sequence[frozenset[Pair]]) -> int:
    """Return how many records of `test` have a twin in `train`."""
    found = set()
    for pair in twins(records):
        for tested, trained in (pair, pair[::-1]):
            if (splits[tested], splits[trained]) == ("test", "train"):
                found.add(tested)
    return len(found)


def shares(configs: Sequence[str], splits: Sequence[str]) -> dict[str, Any]:
    """Return each config's shares, and by how many points the worst is away."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for config, split in zip(configs, splits, strict=True):
        counts[config][split] += 1
    parts = {
        config: {split: 100 * own[split] / own.total() for split in SHARES}
        for config, own in counts.items()
        if own.total() >= LEAST_RECORDS
    }
    away = {
        config: max(abs(part[split] - share) for split, share in SHARES.items())
        for config, part in parts.items()
    }
    return {
        "points_away": {config: round(points, 2) for config, points in away.items()},
        "most_points_away": round(max(away.values(), default=0.0), 2),
    }


def _rows(build: Path) -> Iterator[tuple[str, str, str]]:
    """Yield config, split and text of each record."""
    for path in sorted(build.glob("[A-Z]*/*.parquet")):
        config = path.parent.name
        split = path.name.partition("-")[0]
        for text in pq.read_table(path, columns=["json_schema"])[0].to_pylist():
            yield config, split, text


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure the build that is named.

    Raises:
        ValueError: none is named.
    """
    if options.build is None:
        raise ValueError("name a build: --build FOLDER")
    rows = list(_rows(options.build))
    splits = [split for _, split, _ in rows]
    records = [frozenset(pairs(json.loads(text))) for _, _, text in rows]
    return {
        "records": len(rows),
        "test_records": splits.count("test"),
        "test_records_with_a_train_twin": leaks(splits, records),
        **shares([config for config, _, _ in rows], splits),
    }
