"""Figures of a dataset folder: counted from its ledger, rows and instances."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from curation.core.benchmark import (
    DEFAULT,
    INSTANCES,
    LEDGER,
    SPLITS,
    in_benchmark_order,
    instances_folder,
)
from curation.core.documents import KEPT, Origin, Reason
from curation.dataset.edition_statistics import effective_sizes, without_sample
from curation.dataset.ledger import DOCUMENTS, Ledger
from curation.dataset.parquet import file_name, split_files
from curation.fit.records import RecordFit
from curation.instances.dataset.parquet import INSTANCE_LEDGER, MISSING
from curation.lint.lint import CODES
from curation.lint.satisfiability import Satisfiability
from curation.packaging.manifest import ConfigFigures
from curation.system.errors import BadData, NoInput

#: Characters of the schema in the row that the card shows, and columns of the row and
#: of its instances.
_EXAMPLE = (200, 600)
_ROW = ("unique_id", "json_schema", "source", "path", "licence", "dialect", "live_size")
_INSTANCE = ("text", "valid", "kind", "keyword", "instance_pointer")
#: Causes counted for one target.
_CAUSES = 3
_IS_SAMPLE = pl.col("origin") == Origin.SAMPLE.value

#: Values of the card's templates, by name.
Values: TypeAlias = "dict[str, Any]"
#: Config to split to patterns of its tables; a split without rows has none.
DataFiles: TypeAlias = Mapping[str, Mapping[str, list[str]]]


def config_figures(ledger: Ledger) -> dict[str, ConfigFigures]:
    """Return the figures of each config, in benchmark order, from the ledger."""
    columns = ("document", "config", "origin", "outcome", "split")
    documents = ledger.documents().select(columns).collect()
    edits = ledger.changes().select("document", "rule").unique().collect()
    figures = {}
    for (config,), rows in documents.group_by("config"):
        outcomes, origins = Counter(rows["outcome"]), set(rows["origin"])
        kept = rows.filter(outcome=KEPT)
        splits = Counter(kept["split"])
        figures[str(config)] = ConfigFigures(
            raw=len(rows),
            kept=len(kept),
            rejected={
                reason.value: outcomes[reason.value]
                for reason in Reason
                if reason in outcomes
            },
            changed=dict(sorted(Counter(edits.join(kept, "document")["rule"]).items())),
            splits={split: splits[split] for split in SPLITS},
            origin="+".join(origin for origin in Origin if origin in origins),
        )
    return {config: figures[config] for config in in_benchmark_order(figures)}


def data_files(
    folder: Path, configs: Mapping[str, ConfigFigures], extras: list[str]
) -> DataFiles:
    """Return the tables of every config: records, then instances, then ledger.

    `default` and `instances` hold the rows of all configs but the extras'.

    Raises:
        NoInput: a split of which the ledger keeps records has no table.
        BadData: the ledger keeps records without a split.
    """
    files: dict[str, dict[str, list[str]]] = {}
    for name, figures in configs.items():
        splits = [split for split in SPLITS if figures.splits.get(split)]
        if figures.kept and not splits:
            message = "the ledger keeps records of it, and says no split that there is"
            raise BadData(message, name, "build again")
        for split in splits:
            paths = split_files(folder, name, split)
            if not paths:
                message = "not there, and the ledger has records in it"
                place = str(folder / file_name(name, split))
                raise NoInput(message, place, "csbdata build writes it")
            files.setdefault(name, {})[split] = [f"{name}/{split}-*.parquet"]
    instances = {
        f"{INSTANCES}-{name}": {
            split: [f"{instances_folder(name)}/{split}-*.parquet"]
            for split in SPLITS
            if split_files(folder, instances_folder(name), split)
        }
        for name in files
        if (folder / instances_folder(name)).is_dir()
    }
    ledger = {
        path.stem: {SPLITS[0]: [f"{LEDGER}/{path.name}"]}
        for path in sorted((folder / LEDGER).glob("*.parquet"))
    }
    return {
        **_together(DEFAULT, files, extras),
        **files,
        **_together(INSTANCES, instances, [f"{INSTANCES}-{name}" for name in extras]),
        **instances,
        LEDGER: ledger.pop(Path(DOCUMENTS).stem),
        **{f"{LEDGER}-{name}": tables for name, tables in ledger.items()},
    }


def _together(name: str, files: DataFiles, extras: list[str]) -> DataFiles:
    """Return a config with the tables of all others but the extras, if any."""
    parts = [tables for config, tables in files.items() if config not in extras]
    whole = {
        split: [path for tables in parts for path in tables.get(split, ())]
        for split in SPLITS
    }
    named = {split: paths for split, paths in whole.items() if paths}
    return {name: named} if named else {}


def count_rows(folder: Path, rows: pl.DataFrame, configs: list[str]) -> Values:
    """Return the counts of a folder, by the names that the card's templates use.

    Args:
        folder: The dataset folder, with the instances.
        rows: Its records.
        configs: The configs of the ledger, in benchmark order.

    Raises:
        OSError: a file cannot be read.
    """
    counted = without_sample(rows)
    codes = _listed_counts(rows, "lints")
    shared = rows.filter(pl.col("cluster").is_duplicated())
    trained = shared.filter(split="train")["cluster"].implode()
    example, instances = _example(folder, rows, configs)
    asked = counted.select(RecordFit._fields).drop_nulls()
    return {
        "licences": {
            archive: dict(sorted(_counts(part, "licence").items()))
            for archive, part in rows.group_by("source", "commit")
        },
        "by_licence": _counts(rows, "licence"),
        "lints": {code: count for code, count in codes.items() if code in CODES},
        "flagged": rows.filter(pl.col("lints").list.len() > 0).height,
        "example": example,
        "example_instances": instances,
        "effective": effective_sizes(rows),
        "live_sizes": {
            config: _counts(part, "live_size")
            for (config,), part in rows.group_by("config")
        },
        "twins": rows.height - rows["skeleton_sha256"].n_unique(),
        "unknown": rows.filter(answer=Satisfiability.UNKNOWN.value).height,
        "vacuous": _counts(rows.filter("vacuous"), "config"),
        "clusters": shared["cluster"].n_unique(),
        "near_duplicates": shared.height,
        "leaks": shared.filter(pl.col("cluster").is_in(trained), split="test").height,
        "targets": target_counts(asked),
        "asked": asked.height,
        "instances": _instances(folder),
    }


def _counts(rows: pl.DataFrame, column: str) -> dict[str, int]:
    """Return each value's count, most first, equal ones by name."""
    counted = rows.group_by(column).len().rows()
    return dict(sorted(counted, key=lambda pair: (-pair[1], pair[0])))


def _listed_counts(rows: pl.DataFrame, column: str) -> dict[str, int]:
    """Return the counts of the values in a column of lists, as `_counts`."""
    return _counts(rows.select(pl.col(column).explode()).drop_nulls(), column)


def target_counts(rows: pl.DataFrame) -> dict[str, Values]:
    """Return the counts of the targets that rows name, by name.

    Args:
        rows: Records with the columns of `RecordFit`.

    Returns:
        `accepted`: the records that the target accepts as they are; `but_for`: rule to
        the records that it alone keeps from being accepted, the few most frequent.
    """
    accepted = _listed_counts(rows, "fits")
    causes: dict[str, dict[str, int]] = {name: {} for name in accepted}
    for cause, count in _listed_counts(rows, "fits_but_for").items():
        name, _, rule = cause.partition(": ")
        causes.setdefault(name, {})[rule] = count
    return {
        name: {
            "accepted": accepted.get(name, 0),
            "but_for": dict([*rules.items()][:_CAUSES]),
        }
        for name, rules in sorted(causes.items())
    }


def _example(folder: Path, rows: pl.DataFrame, configs: list[str]) -> tuple[str, str]:
    """Return a row that fits a page and instances of it, as JSON.

    The sample's only if no other fits.
    """
    text = pl.col("json_schema")
    fitting = rows.filter(
        text.str.len_chars().is_between(*_EXAMPLE),
        # No e-mail address.
        ~text.str.contains("@", literal=True),
        split=SPLITS[-1],
    )
    ranks = pl.col("config").cast(pl.Enum(configs))
    for row in fitting.sort(_IS_SAMPLE, ranks, "sha256").head(1).to_dicts():
        shown = _foreign({name: row[name] for name in _ROW}, 1)
        inside = instances_folder(row["config"])
        paths = [folder / name for name in split_files(folder, inside, SPLITS[-1])]
        if not paths:
            return shown, ""
        instances = pl.scan_parquet(paths, glob=False)
        instances = instances.filter(unique_id=row["unique_id"])
        # Every engine refuses a wrong type.
        is_type = pl.col("keyword") == "type"
        telling = instances.sort(is_type, maintain_order=True)
        both = telling.unique("valid", keep="first", maintain_order=True)
        listed = both.select(_INSTANCE).collect().to_dicts()
        return shown, "\n".join(map(_foreign, listed))
    return "", ""


def _foreign(row: object, indent: int | None = None) -> str:
    """Return foreign JSON in ASCII, so that nothing of it can pass for the card's."""
    return json.dumps(row, indent=indent).replace("`", "\\u0060")


def missing_near_misses(folder: Path) -> dict[str, int]:
    """Return how many keywords have no near miss and no proof, by the reason."""
    path = folder / MISSING
    if not path.is_file():  # none is missing, or no instances were made
        return {}
    return _counts(pl.read_parquet(path, glob=False), "reason")


def _instances(folder: Path) -> Values | None:
    """Return counts of instances, and of `records` by their answer."""
    if not (folder / INSTANCE_LEDGER).is_file():
        return None
    rows = pl.read_parquet(folder / INSTANCE_LEDGER, glob=False)
    names = ("witnesses", "near_misses", "judged_by_both", "unrefused", "disputed")
    sums = rows.select(names).sum().row(0, named=True)
    return {
        **sums,
        "records": _counts(rows, "answer"),
        "missing": missing_near_misses(folder),
    }
