"""Counts of a build's rows for the card, beside the paper's tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from curation.core.benchmark import SIZES, SPLITS, instances_folder, size_of
from curation.core.documents import KEPT, Origin
from curation.dataset.edition_statistics import effective_sizes
from curation.dataset.parquet import split_files
from curation.fit.records import TargetCount, target_counts
from curation.instances.dataset.parquet import DISAGREEMENTS, INSTANCE_LEDGER
from curation.lint.lint import CODES
from curation.packaging.plots import fits_of_rows

if TYPE_CHECKING:
    from curation.dataset.ledger import Ledger

#: Characters of the schema in the row that the card shows, and columns of the row and
#: of its instances, and how many of them.
_EXAMPLE = (200, 600)
_ROW = ("unique_id", "json_schema", "source", "path", "licence", "dialect", "live_size")
_INSTANCE = ("text", "valid", "kind", "keyword", "instance_pointer")
_INSTANCES = 6


#: One row of a table of the card, by the names that its template uses.
_Row: TypeAlias = "Mapping[str, Any]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCounts:
    """Counts of rows."""

    #: Archives of configs: `config`, `source`, `commit`, documents `raw` and `kept`.
    archives: Sequence[_Row]
    #: Config to rule to reason to the number of documents rejected for it; a rule
    #: named "" is reading itself.
    rejected: Mapping[str, Mapping[str, Mapping[str, int]]]
    #: Source and commit to SPDX expression to records.
    licences: Mapping[tuple[str, str], Mapping[str, int]]
    #: Original repositories that rows name, most first: `repository`, `licence` and
    #: `count`.
    repositories: Sequence[_Row]
    #: Lint code to records, most first.
    lints: Mapping[str, int]
    #: Records with any lint.
    flagged: int
    #: Dialect to records, oldest first; and how it was found, most first.
    dialects: Mapping[str, int]
    dialect_found: Mapping[str, int]
    #: Characters of the longest schema; like the dialects, of all but the sample's
    #: rows, where there are others.
    longest_schema: int
    #: The sizes of the same records, smallest first: `name`, records `by_all` fields,
    #: as GitHub's configs are made, and `by_live` ones, which lead to a keyword that
    #: some value can violate.
    sizes: Sequence[_Row]
    #: One row as JSON text, by column; empty for none.
    example: str
    #: Some of its instances, a line each; empty for none.
    example_instances: str
    #: Config to the number of independent records that its own are worth, and to that
    #: of its vacuous ones.
    effective: Mapping[str, float]
    vacuous: Mapping[str, int]
    #: Near-duplicate clusters of several records, and the records in them.
    clusters: int
    near_duplicates: int
    #: Records of `test` whose cluster has one of `train`.
    leaks: int
    #: By target, of the same records as the dialects; empty if none was asked for.
    targets: Mapping[str, TargetCount]
    #: None if no instances were made; counts of instances by name, and `records` by
    #: their answer.
    instances: _Row | None


def count_rows(folder: Path, ledger: Ledger, configs: Iterable[str]) -> FolderCounts:
    """Return the counts of a build's configs of schemas.

    Raises:
        OSError: a file cannot be read.
    """
    names = list(configs)
    records = _records(folder, names)
    # The sample's rows count only if there are no others.
    real = records.filter(pl.col("origin") != Origin.SAMPLE.value)
    counted = real if real.height else records
    dialects = _counts(counted, "dialect").items()
    lints = records.select(pl.col("lints").explode()).drop_nulls()
    codes = _counts(lints, "lints")
    shared = records.filter(pl.col("cluster").is_duplicated())
    trained = shared.filter(split="train")["cluster"].implode()
    example, instances = _example(folder, names)
    return FolderCounts(
        archives=_archives(ledger, names),
        rejected=_rejected(ledger),
        licences=_licences(records),
        repositories=_repositories(records),
        lints={code: codes[code] for code in codes if code in CODES},
        flagged=records.filter(pl.col("lints").list.len() > 0).height,
        dialects=dict(
            sorted(
                dialects, key=lambda pair: (not pair[0].startswith("draft"), pair[0])
            )
        ),
        dialect_found=_counts(counted, "dialect_found"),
        longest_schema=int(counted.select(pl.col("length").max()).item() or 0),
        sizes=_sizes(counted),
        example=example,
        example_instances=instances,
        effective=effective_sizes(records),
        vacuous=_counts(records.filter("vacuous"), "config"),
        clusters=shared["cluster"].n_unique(),
        near_duplicates=shared.height,
        leaks=shared.filter(pl.col("cluster").is_in(trained), split="test").height,
        targets=target_counts(fits_of_rows(records)),
        instances=_instances(folder),
    )


def _records(folder: Path, configs: list[str]) -> pl.DataFrame:
    texts = (
        *("source", "commit", "licence", "original_repository", "lints", "dialect"),
        *("dialect_found", "origin", "cluster", "live_size"),
    )
    length = pl.col("json_schema").str.len_chars().alias("length")
    schema = {
        **dict.fromkeys((*texts, "config", "split"), pl.String()),
        "field_count": pl.Int64(),
        **dict.fromkeys(("lints", "fits", "fits_but_for"), pl.List(pl.String())),
        "vacuous": pl.Boolean(),
        "weight": pl.Float64(),
        "length": pl.UInt32(),
    }
    frames = [pl.LazyFrame(schema=schema)]
    for split, config in product(SPLITS, configs):
        paths = [folder / path for path in split_files(folder, config, split)]
        if paths:
            place = {"split": pl.lit(split), "config": pl.lit(config)}
            rows = pl.scan_parquet(paths, glob=False).with_columns(length, **place)
            frames.append(rows.select(*schema))
    return pl.concat(frames).collect()


def _sizes(records: pl.DataFrame) -> list[_Row]:
    by_all = Counter(map(size_of, records["field_count"].to_list()))
    by_live = _counts(records, "live_size")
    return [
        {"name": name, "by_all": by_all[name], "by_live": by_live.get(name, 0)}
        for name in SIZES
    ]


def _example(folder: Path, configs: list[str]) -> tuple[str, str]:
    """Return a row that fits a page and instances of it, as JSON.

    The sample's only if no other fits.
    """
    of_sample = "", ""
    for config in configs:
        paths = [folder / path for path in split_files(folder, config, SPLITS[-1])]
        if not paths:
            continue
        text = pl.col("json_schema")
        fitting = pl.scan_parquet(paths, glob=False).filter(
            text.str.len_chars().is_between(*_EXAMPLE),
            # No e-mail address.
            ~text.str.contains("@", literal=True),
        )
        for row in fitting.sort("sha256").head(1).collect().to_dicts():
            instances = _shown_instances(folder, config, row["unique_id"])
            example = _foreign({name: row[name] for name in _ROW}, 1), instances
            if row["origin"] != Origin.SAMPLE.value:
                return example
            of_sample = of_sample if of_sample[0] else example
    return of_sample


def _shown_instances(folder: Path, config: str, record: str) -> str:
    """Return a witness of each kind and near misses of several keywords."""
    names = split_files(folder, instances_folder(config), SPLITS[-1])
    if not names:
        return ""
    paths = [folder / name for name in names]
    rows = pl.scan_parquet(paths, glob=False).filter(unique_id=record)
    kinds = rows.unique(("kind", "keyword"), keep="first", maintain_order=True)
    shown = kinds.select(_INSTANCE).head(_INSTANCES).collect()
    return "\n".join(map(_foreign, shown.to_dicts()))


def _foreign(row: object, indent: int | None = None) -> str:
    """Return foreign JSON in ASCII, so that nothing of it can pass for the card's."""
    return json.dumps(row, indent=indent).replace("`", "\\u0060")


def _counts(rows: pl.DataFrame, column: str) -> dict[str, int]:
    """Return each value's count, most first, equal ones by name."""
    counted = rows.group_by(column).len().rows()
    return dict(sorted(counted, key=lambda pair: (-pair[1], pair[0])))


def _licences(records: pl.DataFrame) -> dict[tuple[str, str], dict[str, int]]:
    by_archive: dict[tuple[str, str], dict[str, int]] = {}
    counted = records.group_by("source", "commit", "licence").len().rows()
    for source, commit, licence, count in sorted(counted):
        by_archive.setdefault((source, commit), {})[licence] = count
    return by_archive


def _repositories(records: pl.DataFrame) -> Sequence[_Row]:
    """Return the repositories of rows, most records first, then by name."""
    counted = (
        records.drop_nulls("original_repository")
        .group_by(repository="original_repository", licence="licence")
        .agg(count=pl.len())
        .sort(pl.col("count"), "repository", "licence", descending=[True, False, False])
    )
    return counted.to_dicts()


def _archives(ledger: Ledger, configs: list[str]) -> list[_Row]:
    rows = (
        ledger.documents()
        .group_by("config", "source", "commit")
        .agg(raw=pl.len(), kept=(pl.col("outcome") == KEPT).sum())
        .collect()
        .to_dicts()
    )
    ranks = {name: rank for rank, name in enumerate(configs)}
    return sorted(
        (row for row in rows if row["config"] in ranks),
        key=lambda row: (ranks[row["config"]], row["source"], row["commit"]),
    )


def _rejected(ledger: Ledger) -> dict[str, dict[str, dict[str, int]]]:
    gone = ledger.documents().filter(pl.col("outcome") != KEPT)
    counted = gone.group_by("config", "rule", "outcome").len().collect().rows()
    by_config: dict[str, dict[str, dict[str, int]]] = {}
    for config, rule, outcome, count in sorted(counted):
        by_config.setdefault(config, {}).setdefault(rule, {})[outcome] = count
    return by_config


def _instances(folder: Path) -> _Row | None:
    if not (folder / INSTANCE_LEDGER).is_file():
        return None
    rows = pl.read_parquet(folder / INSTANCE_LEDGER, glob=False)
    names = ("witnesses", "near_misses", "judged_by_both", "unrefused", "given")
    sums = rows.select(names).sum().row(0, named=True)
    refused = rows["examples_refused"].drop_nulls()
    disputed = pl.scan_parquet(folder / DISAGREEMENTS, glob=False).select(pl.len())
    return {
        **sums,
        "records": _counts(rows, "answer"),
        "examples_refused": sum(sum(json.loads(text).values()) for text in refused),
        "disputed": disputed.collect().item(),
    }
