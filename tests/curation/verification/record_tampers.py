"""Changes to records: a cell, a row, or a place among the others."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import polars as pl

from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.verification.derived import DERIVED
from curation.verification.labels import LABELS
from curation.verification.leakage import LEAKAGE
from curation.verification.records import ROWS
from tests.curation.verification.tampering import (
    INSTANCES,
    KEPT,
    RECORDS,
    both,
    instance,
    record,
    rewrite,
    schema,
    tampers,
    where,
)

if TYPE_CHECKING:
    from pathlib import Path


def _with_the_id_of_another(rows: pl.DataFrame) -> pl.DataFrame:
    first, last = rows.head(1), rows["unique_id"][-1]
    return pl.concat([first.with_columns(unique_id=pl.lit(last)), rows.slice(1)])


def _moved(folder: Path) -> None:
    moved = pl.read_parquet(folder / RECORDS).head(1)
    rewrite(RECORDS, lambda rows: rows.slice(1))(folder)
    other = RECORDS.replace("train", "test")
    rewrite(other, lambda rows: pl.concat([moved, rows]))(folder)


def _copied(folder: Path) -> None:
    copy = pl.read_parquet(folder / RECORDS).head(1)
    rewrite(
        "Snowplow/train-00000-of-00001.parquet", lambda rows: pl.concat([copy, rows])
    )(folder)


def _larger(folder: Path) -> None:
    """Move a record into the next size, with all that tells of it."""
    larger = RECORDS.replace("easy", "medium")
    moved = pl.read_parquet(folder / RECORDS).head(1)
    name = moved["unique_id"][0]
    rewrite(RECORDS, lambda rows: rows.slice(1))(folder)
    rewrite(larger, lambda rows: pl.concat([moved, rows]))(folder)
    own = (pl.col("unique_id") == name) & (pl.col("config") == "Github_easy")
    where(DOCUMENTS, own, config="Github_medium")(folder)


#: A repository that no row of the sample comes from.
_HOME = "https://github.com/owner/name"

RECORD_TAMPERS = list(
    chain(
        tampers(
            ROWS,
            ("schema edited", record(json_schema='{"type": "null"}'), "sha256 is "),
            ("schema respelt", record(json_schema="{ }"), "as a build writes it"),
            ("schema invalid", record(**schema({"type": "strnig"})), "invalid under"),
            ("dialect", record(dialect="draft-05"), "no such dialect"),
            ("dialect found", record(dialect_found="guessed"), "dialect_found is"),
            (
                "dialect words",
                record(dialect_found="declared", dialect_words=["if"]),
                "dialect_words is",
            ),
            ("live size", record(live_size="ultra"), "live_size is ultra"),
            ("valid under", record(valid_under=["draft-04"]), "valid_under is"),
            ("field count", record(field_count=10_001), "field_count is 10001"),
            ("fan-out", record(max_fan_out=0), "max_fan_out is 0"),
            ("depth", record(depth=99), "depth is 99"),
            ("size", record(size=1), "size is 1"),
            ("features", record(features=["if"]), "features is"),
            ("formats", record(formats=["uuid"]), "formats is"),
            ("lints", record(lints=["crossed-bounds"]), "lints is"),
            ("digest", record(sha256="0" * 64), "sha256 is 0"),
            ("skeleton", record(skeleton_sha256="0" * 64), "skeleton_sha256 is 0"),
            ("split key", record(split_key="0" * 16), "split_key is 0"),
        ),
        tampers(
            ROWS,
            ("schema and digests", record(**schema({"type": "null"})), "but no row"),
            ("id renamed", record(unique_id="mine"), "not kept in the ledger"),
            ("record removed", rewrite(RECORDS, lambda rows: rows.slice(1)), "no row"),
            ("outcome", where(DOCUMENTS, KEPT, outcome="empty"), "not kept in"),
        ),
        tampers(
            ROWS,
            ("ledger removed", lambda folder: (folder / DOCUMENTS).unlink(), "missing"),
            then_card=False,
        ),
        tampers(
            ROWS,
            (
                "instances removed",
                rewrite(INSTANCES, lambda r: r.slice(9)),
                "are not as many as",
            ),
            ("instances' record", instance("unique_id", "mine"), "are not as many as"),
        ),
        tampers(
            ROWS,
            ("no id", record(unique_id=""), "not kept in the ledger"),
            ("same id", rewrite(RECORDS, _with_the_id_of_another), "not kept in the"),
        ),
        tampers(
            DERIVED,
            ("order", rewrite(RECORDS, lambda r: r.reverse()), "natural order"),
        ),
        tampers(
            LEAKAGE,
            ("moved to another split", _moved, "its key belongs in train"),
            ("cluster", record(cluster="0" * 64), "cluster is not the smallest"),
            ("weight", record(weight=0.125), "weight is 0.125, but"),
            ("copied to another config", _copied, "the same schema as"),
        ),
        tampers(
            LABELS,
            (
                "fastjsonschema's verdict",
                rewrite(
                    RECORDS, lambda r: r.with_columns(fastjsonschema=pl.lit("x.Error"))
                ),
                "but 'compiles' when compiled again",
            ),
            (
                "fits",
                rewrite(
                    RECORDS, lambda r: r.with_columns(fits=pl.lit(["openai-strict"]))
                ),
                "fits is openai-strict, and another list",
            ),
        ),
        tampers(
            ROWS,
            ("config", _larger, "read for Github, it belongs in Github_easy"),
            (
                "config read for",
                rewrite(
                    DOCUMENTS,
                    lambda rows: rows.with_columns(raw_config=pl.col("config")),
                ),
                "read for Github_easy, it belongs in Github_easy",
            ),
            ("source", record(source="kubernetes"), "source is not that of"),
            ("path", record(path="elsewhere.json"), "path is not that of"),
            ("commit", record(commit="f" * 40), "commit is not that of"),
            ("licence", record(licence="MIT"), "licence is not that of"),
            ("repository", record(original_repository=_HOME), "original_repository is"),
            ("origin", record(origin="upstream"), "origin is not that of"),
            ("source, both", both(source="local"), "no pin in manifest.json"),
            ("commit, both", both(commit="f" * 40), "no pin in manifest.json"),
            ("origin, both", both(origin="upstream"), "no pin in manifest.json"),
            ("changes", record(changes=["wrap"]), "changes is not that of"),
            ("repaired", record(repaired=["wrap"]), "repaired is not what"),
            ("edits", rewrite(CHANGES, lambda rows: rows.head(0)), "changes is not"),
        ),
    )
)
