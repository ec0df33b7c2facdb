"""Measure what the witnesses of a build reach: sites and branches of unions.

Every record with a witness counts. `micro` is over all sites of all records, `macro`
the mean of the records' own shares. What no instance can reach counts like any other.
How it is counted: `reached_sites.py`.
A record whose evaluation does not fit into 4 GiB (its tree may grow exponentially) is
named in `not_counted`.
"""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars

from bench.builds import clean_build
from bench.data.reached_sites import live_of, reached_of
from curation.core.benchmark import CONFIGS
from curation.dataset.editions import instance_tables

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from pathlib import Path

_SCHEMA = ("unique_id", "json_schema", "dialect")
_INSTANCE = ("unique_id", "kind", "text")
#: What is counted, and the name of the count of those that are reached.
_REACHED = {"sites": "sites_reached", "branches": "branches_taken"}
_TRIVIAL = frozenset({"{}", "[]", "null"})
#: Address space of the process that counts, in bytes.
_MAX_MEMORY = 4 << 30


@dataclass(slots=True)
class Tally:
    """What was counted over records."""

    counts: Counter[str] = field(default_factory=Counter)
    #: The share of each record that has a site, or a union.
    sites: list[float] = field(default_factory=list)
    branches: list[float] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add what was counted elsewhere."""
        self.counts.update(other.counts)
        self.sites += other.sites
        self.branches += other.branches

    def figures(self) -> dict[str, Any]:
        """Return the counts, with their shares."""
        counted = self.counts
        return {
            **{name: counted[name] for name in sorted(counted)},
            "sites_micro": _share(counted["sites_reached"], counted["sites"]),
            "sites_macro": _share(sum(self.sites), len(self.sites)),
            "branches_micro": _share(counted["branches_taken"], counted["branches"]),
            "branches_macro": _share(sum(self.branches), len(self.branches)),
            "trivial_share": _share(counted["trivial"], counted["witnesses"]),
        }


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def counted(
    schema: Any,  # noqa: ANN401 - any JSON
    dialect: str,
    texts: list[str],
) -> Tally:
    """Return what the witnesses of one record reach.

    Args:
        schema: The record's schema.
        dialect: Name of its dialect.
        texts: Its witnesses, as JSON texts.
    """
    values = [json.loads(text) for text in texts]
    live, reached = live_of(schema, dialect), reached_of(schema, dialect, values)
    tally, counts = Tally(), Counter[str]()
    for name, all_of, shares in (
        ("sites", live.sites, tally.sites),
        ("branches", live.branches, tally.branches),
    ):
        hit = len(all_of & reached)
        counts[name], counts[_REACHED[name]] = len(all_of), hit
        if all_of:
            shares.append(hit / len(all_of))
    counts["records"], counts["witnesses"] = 1, len(texts)
    counts["trivial"] = sum(text in _TRIVIAL for text in texts)
    tally.counts = counts
    return tally


def _frame(files: Iterable[Path], columns: tuple[str, ...]) -> polars.DataFrame:
    return polars.concat(
        polars.read_parquet(file, columns=list(columns)) for file in files
    )


class Apart:
    """Counts record by record in a process of its own, which may run out of memory."""

    def __init__(self) -> None:
        """Start the process."""
        self._pool = self._opened()

    @staticmethod
    def _opened() -> ProcessPoolExecutor:
        limit = (_MAX_MEMORY, _MAX_MEMORY)
        return ProcessPoolExecutor(
            1, initializer=resource.setrlimit, initargs=(resource.RLIMIT_AS, limit)
        )

    def counted(self, schema: str, dialect: str, texts: list[str]) -> Tally | None:
        """Return what `counted` returns; None where the process did not live."""
        given = (json.loads(schema), dialect, texts)
        try:
            return self._pool.submit(counted, *given).result()
        except (BrokenProcessPool, MemoryError):
            self.close()
            self._pool = self._opened()
            return None

    def close(self) -> None:
        """End the process."""
        self._pool.shutdown()


def config_tally(folder: Path, config: str, every: int) -> tuple[Tally, list[str]]:
    """Return what was counted over every n-th record, and the ids of the others.

    These are the records that could not be counted.
    """
    instances = _frame(instance_tables(folder, config), _INSTANCE)
    texts: dict[str, list[str]] = {}
    for unique_id, kind, text in instances.iter_rows():
        if kind != "near_miss":
            texts.setdefault(unique_id, []).append(text)
    total, lost, apart = Tally(), [], Apart()
    schemas = sorted((folder / config).glob("*.parquet"))
    rows = list(_frame(schemas, _SCHEMA).iter_rows())[::every]
    for unique_id, schema, dialect in rows:
        if unique_id in texts:
            tally = apart.counted(schema, dialect, texts[unique_id])
            if tally is None:
                lost.append(unique_id)
            else:
                total.add(tally)
    apart.close()
    return total, lost


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument(
        "--every", type=int, default=1, help="count every n-th record only"
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of every config, and of all.

    Raises:
        SystemExit: the build has no instances.
    """
    with clean_build(options.build, "--instances") as build:
        configs = [
            config for config in CONFIGS if instance_tables(build.folder, config)
        ]
        if not configs:
            raise SystemExit(f"{build.folder}: a build without instances")
        found, total, not_counted = {}, Tally(), []
        for config in configs:
            print(f"reached: {config}", file=sys.stderr)
            tally, lost = config_tally(build.folder, config, options.every)
            not_counted += [f"{config}/{unique_id}" for unique_id in lost]
            found[config] = tally.figures()
            total.add(tally)
    return {
        "measured": build.name,
        "every": options.every,
        "not_counted": not_counted,
        **found,
        "all": total.figures(),
    }
