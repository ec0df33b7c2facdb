"""Choose the hard core of an edition: few records on which engines differ, for all.

Records stand in the order of difficulty (the share of engine families that fail it),
size, rarest feature and cluster, and are cut into parts of which each gives one record:
those on which all agree have less of a chance than those on which engines differ. Of
several hundred such draws the one stays whose weighted scores are nearest to those on
the whole sample. A record's weight is the number of records that it stands for.

The choice is tested on engines that it has not seen: each family (an engine with its
versions and settings) is left out, the rest choose, and its scores on that core are
held against those on the sample.

Usage: python -m bench.edition.core results/2026.11 BUILD
Writes core.tsv into the edition, and prints the test; exit 1 if a score is missed by
over two points, or a pair that the sample separates at 95 % stands in reverse order.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import comb
from pathlib import Path

import numpy as np
import polars as pl

#: Records of the core, and seeds that are tried.
COUNT = 500
SEEDS = 500
#: How often a record is drawn on which all agree, beside one on which they differ.
AGREED = 0.75
#: Points by which a score may be missed.
POINTS = 2.0
#: An engine that another is a setting or a wrapper of.
FAMILIES = {"guidance": "llguidance", "llama_cpp_gbnf": "llama_cpp"}


@dataclass(frozen=True)
class Core:
    """The places of the core's records, their weights and difficulties."""

    places: np.ndarray
    weights: np.ndarray
    difficulty: np.ndarray

    def score(self, passed: np.ndarray) -> float:
        """Return an engine's estimated share of the sample, from the core alone."""
        return float(passed[self.places] @ self.weights / self.weights.sum())


def outcomes(edition: Path) -> pl.DataFrame:
    """Return a row a record and a column an engine: whether it passed."""
    rows = pl.read_parquet(edition / "rows.parquet").filter(task="masks")
    name = pl.concat_str("config", "id", separator="/").alias("name")
    table = rows.with_columns(name).pivot("engine", index="name", values="passed")
    return table.drop("none").drop_nulls().sort("name")


def strata(build: Path, names: list[str]) -> list[tuple[str, str, str]]:
    """Return size, rarest feature and cluster of each record."""
    columns = ["unique_id", "size", "features", "cluster"]
    found = {
        f"{path.parent.name}/{row['unique_id']}": row
        for path in sorted(build.glob("[A-Z]*/*.parquet"))
        for row in pl.read_parquet(path, columns=columns).iter_rows(named=True)
    }
    own = [found[name] for name in names]
    uses = pl.Series([it for row in own for it in row["features"]]).value_counts()
    counts = dict(uses.iter_rows())
    rarest = [min(row["features"], key=counts.__getitem__, default="") for row in own]
    return [
        (row["size"], feature, row["cluster"] or "")
        for row, feature in zip(own, rarest, strict=True)
    ]


def families(engines: list[str]) -> list[str]:
    """Return the family of each engine."""
    names = [engine.split()[0] for engine in engines]
    return [FAMILIES.get(name, name) for name in names]


def choose(passed: np.ndarray, of: list[str], keys: list[tuple[str, str, str]]) -> Core:
    """Choose the core by the outcomes of engines.

    Args:
        passed: Whether each record (row) is passed by each engine (column).
        of: The family of each engine; a family counts once in a difficulty.
        keys: Size, feature and cluster of each record.
    """
    means = [
        passed[:, [own == family for own in of]].mean(axis=1)
        for family in sorted(set(of))
    ]
    difficulty = 1 - np.mean(means, axis=0)
    agreed = passed.all(axis=1) | ~passed.any(axis=1)
    share = np.where(agreed, AGREED, 1.0)
    share *= min(1.0, COUNT / share.sum())
    level = difficulty.round(2)
    order = sorted(range(len(passed)), key=lambda at: (level[at], *keys[at]))
    # A part ends wherever the sum of shares passes a whole number.
    part = np.floor(np.cumsum(share[order]) - 1e-9)
    real = passed.mean(axis=0)

    def drawn(seed: int) -> Core:
        # The largest of these has each record's chance (Efraimidis and Spirakis, 2006).
        keyed = np.random.default_rng(seed).random(len(order)) ** (1 / share[order])
        last = np.lexsort((keyed, part))[np.diff(part, append=np.inf) > 0]
        places = np.sort(np.array(order)[last])
        return Core(places, 1 / share[places], difficulty[places])

    def missed(core: Core) -> float:
        scores = [core.score(passed[:, at]) for at in range(len(real))]
        return float(np.square(scores - real).sum())

    return min(map(drawn, range(SEEDS)), key=missed)


def differ(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether McNemar's exact test separates two engines at 95 %."""
    won, lost = int((one & ~other).sum()), int((other & ~one).sum())
    of, least = won + lost, min(won, lost)
    tail = sum(comb(of, at) for at in range(least + 1))
    return 2 * tail < 0.05 * 2.0**of


def main(edition: Path, build: Path) -> int:
    """Test the choice, and write it."""
    table = outcomes(edition)
    names, engines = table["name"].to_list(), [*table.columns[1:]]
    passed = table.select(engines).to_numpy().astype(bool)
    keys, of = strata(build, names), families(engines)
    print(f"{len(names):,} records that {len(engines)} engines were asked")
    failed = 0
    for family in sorted(set(of)):
        seen = [at for at, own in enumerate(of) if own != family]
        core = choose(passed[:, seen], [of[at] for at in seen], keys)
        scores = [core.score(passed[:, at]) for at in range(len(engines))]
        for at in (at for at, own in enumerate(of) if own == family):
            real = float(passed[:, at].mean())
            points = 100 * (scores[at] - real)
            reversed_ = [
                engines[other]
                for other in range(len(engines))
                if differ(passed[:, at], passed[:, other])
                and (scores[at] - scores[other])
                * (real - float(passed[:, other].mean()))
                <= 0
            ]
            failed += abs(points) > POINTS or bool(reversed_)
            print(
                f"{engines[at]:40} sample {100 * real:5.1f} %  core "
                f"{100 * scores[at]:5.1f} %  {points:+.1f}  reversed: "
                f"{', '.join(reversed_) or 'none'}"
            )
    core = choose(passed, of, keys)
    lines = [
        f"{names[place]}\t{hard:.3f}\t{weight:.3f}"
        for place, hard, weight in sorted(
            zip(core.places, core.difficulty, core.weights, strict=True)
        )
    ]
    print(f"{len(lines)} records")
    head = "id\tdifficulty\tstands_for"
    (edition / "core.tsv").write_text("\n".join([head, *lines, ""]), "utf-8")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
