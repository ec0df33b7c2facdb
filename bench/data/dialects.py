"""Infer the dialect of records that declare one, with the declaration hidden.

The decision is that of rule `dialect`: by words where they leave one draft, by the
prior of the source where they leave several. Beside it stand two that read no words:
the first draft of the prior, and the newest, under which the schema is valid.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl

from curation.schema.dialects import DIALECTS
from curation.schema.drafts import usage
from curation.validation.dialect_decision import NEWEST_FIRST, PRIORS, inferred

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from curation.schema.dialects import Dialect


def add_options(_group: argparse._ArgumentGroup) -> None:
    """Add nothing: the build is an option of all parts."""


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure the build that is named, source by source.

    Raises:
        ValueError: none is named.
    """
    if options.build is None:
        raise ValueError("name a build: --build FOLDER")
    columns = ("source", "dialect", "dialect_found", "valid_under", "json_schema")
    rows = pl.scan_parquet(f"{options.build}/[A-Z]*/*.parquet").select(columns)
    declared = rows.filter(pl.col("dialect_found").is_in(["declared", "repaired"]))
    return {
        source[0]: _measured(str(source[0]), own)
        for source, own in sorted(
            declared.collect().partition_by("source", as_dict=True).items()
        )
    }


def _first_valid(order: Sequence[Dialect], row: Mapping[str, Any]) -> str:
    return next(each.name for each in order if each.name in row["valid_under"])


def _measured(source: str, rows: pl.DataFrame) -> dict[str, Any]:
    counts, right = Counter[str](), Counter[str]()
    confusion = Counter[str]()
    for row in rows.iter_rows(named=True):
        schema = json.loads(row["json_schema"])
        schema.pop("$schema", None)
        order = PRIORS.get(source, NEWEST_FIRST)
        result = inferred(schema, usage(schema), order)
        evidence = "none" if result is None else result.evidence
        dialect = "none" if result is None else result.dialect.name
        for name, guess in (
            (evidence, dialect),
            ("all", dialect),
            ("prior alone", _first_valid(order, row)),
            ("newest alone", _first_valid(NEWEST_FIRST, row)),
        ):
            counts[name] += 1
            right[name] += guess == row["dialect"]
        if dialect != row["dialect"]:
            confusion[f"{row['dialect']} as {dialect}"] += 1
    drafts = Counter(rows["dialect"].to_list())
    return {
        "declared": {each.name: drafts[each.name] for each in DIALECTS},
        "right": {
            name: f"{right[name]} of {count} ({right[name] / count:.1%})"
            for name, count in sorted(counts.items())
        },
        "wrong": dict(confusion.most_common()),
    }
