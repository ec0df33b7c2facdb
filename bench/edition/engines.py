"""Write what engines did with the real schemas of an edition, by their features.

Usage: python -m bench.edition.engines BUILD results/EDITION
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path

import msgspec
import polars as pl

from curation.checking.engine_evidence import ENGINES, Head, Likes, features_of_schema
from curation.system.atomic_files import atomic_write_bytes
from evaluation.setup.engine_files import FAITHFUL
from evaluation.site.keywords import newest_versions


def main() -> None:
    """Count, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("edition", type=Path)
    options = parser.parse_args()
    rows = pl.read_parquet(options.edition / "rows.parquet").filter(
        pl.col("engine").str.ends_with(f" {FAITHFUL}"), task="masks"
    )
    engines = newest_versions(rows["engine"].unique().sort().to_list())
    rows = rows.filter(pl.col("engine").is_in(engines))
    texts = pl.concat(
        pl.read_parquet(path, columns=["unique_id", "json_schema"]).select(
            pl.lit(path.parent.name).alias("config"),
            pl.col("unique_id").alias("id"),
            "json_schema",
        )
        for path in sorted(options.build.glob("[A-Z]*/*.parquet"))
        if "json_schema" in pl.read_parquet_schema(path)
    )
    outcomes: dict[tuple[str, ...], dict[int, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    features: dict[str, tuple[str, ...]] = {}
    joined = rows.join(texts.unique(["config", "id"]), on=["config", "id"])
    for engine, outcome, text in joined.select(
        "engine", "outcome", "json_schema"
    ).iter_rows():
        if text not in features:
            features[text] = tuple(sorted(features_of_schema(json.loads(text))))
        outcomes[features[text]][engines.index(engine)][outcome] += 1
    names = sorted({name for own in outcomes for name in own})
    places = {name: at for at, name in enumerate(names)}
    head = Head(options.edition.resolve().name, engines, names)
    lines = [
        Likes([places[name] for name in own], {at: {**by} for at, by in found.items()})
        for own, found in sorted(outcomes.items())
    ]
    content = b"\n".join(map(msgspec.json.encode, [head, *lines]))
    atomic_write_bytes(options.edition / ENGINES, gzip.compress(content, 9, mtime=0))


if __name__ == "__main__":
    main()
