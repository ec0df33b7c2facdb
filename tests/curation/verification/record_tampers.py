"""Changes to records: a cell, a row, or a place among the others."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import polars as pl

from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.verification.checks.counts import COUNTS
from curation.verification.checks.identity import IDENTITY
from curation.verification.checks.leakage import LEAKAGE
from curation.verification.checks.schemas import SCHEMAS
from curation.verification.derivations.provenance import PROVENANCE
from curation.verification.derivations.remaking import REMAKING
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


def _moved(folder: Path) -> None:
    moved = pl.read_parquet(folder / RECORDS).head(1)
    rewrite(RECORDS, lambda rows: rows.slice(1))(folder)
    other = RECORDS.replace("train", "test")
    rewrite(other, lambda rows: pl.concat([moved, rows]))(folder)


def _copied(folder: Path) -> None:
    copy = pl.read_parquet(folder / RECORDS).head(1)
    rewrite(
        "Snowplow/train-00000-of-00001.parquet",
        lambda rows: pl.concat([copy, rows]),
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
            SCHEMAS,
            ("schema edited", record(json_schema='{"type": "null"}'), "sha256 is not"),
            ("schema respelt", record(json_schema="{ }"), "as a build writes it"),
            ("schema invalid", record(**schema({"type": "strnig"})), "invalid under"),
            ("dialect", record(dialect="draft-05"), "no such dialect"),
            ("dialect found", record(dialect_found="guessed"), "dialect_found is"),
            ("valid under", record(valid_under=["draft-04"]), "valid_under is"),
            ("field count", record(field_count=10_001), "field_count is 10001"),
            ("fan-out", record(max_fan_out=0), "max_fan_out is 0"),
            ("depth", record(depth=99), "depth is 99"),
            ("size", record(size=1), "size is 1"),
            ("features", record(features=["if"]), "features is"),
            ("formats", record(formats=["uuid"]), "formats is"),
            ("lints", record(lints=["crossed-bounds"]), "lints is"),
            ("digest", record(sha256="0" * 64), "sha256 is not that"),
            ("skeleton", record(skeleton_sha256="0" * 64), "skeleton_sha256 is not"),
        ),
        tampers(
            COUNTS,
            ("schema and digests", record(**schema({"type": "null"})), "but no row"),
            ("id renamed", record(unique_id="mine"), "not kept in the ledger"),
            ("record removed", rewrite(RECORDS, lambda rows: rows.slice(1)), "no row"),
            ("outcome", where(DOCUMENTS, KEPT, outcome="empty"), "not kept in"),
        ),
        tampers(
            COUNTS,
            ("ledger removed", lambda folder: (folder / DOCUMENTS).unlink(), "missing"),
            then_card=False,
        ),
        tampers(
            COUNTS,
            (
                "instances removed",
                rewrite(INSTANCES, lambda r: r.slice(9)),
                "instances in",
            ),
            (
                "instances' record",
                instance("unique_id", "mine"),
                "instances in the ledger",
            ),
        ),
        tampers(
            IDENTITY,
            ("no id", record(unique_id=""), "a record without an id"),
            (
                "same id",
                rewrite(RECORDS, lambda r: r.with_columns(unique_id=pl.lit("o1"))),
                "have this id",
            ),
            ("order", rewrite(RECORDS, lambda r: r.reverse()), "natural order"),
        ),
        tampers(
            LEAKAGE,
            ("moved to another split", _moved, "its key belongs in train"),
            ("copied to another config", _copied, "the same schema as"),
        ),
        tampers(
            REMAKING,
            (
                "fastjsonschema's verdict",
                rewrite(
                    RECORDS, lambda r: r.with_columns(fastjsonschema=pl.lit("x.Error"))
                ),
                "but 'compiles' when it is asked again",
            ),
        ),
        tampers(
            PROVENANCE,
            ("config", _larger, "read for Github, it belongs in Github_easy"),
            ("source", record(source="kubernetes"), "source is 'kubernetes', but"),
            ("path", record(path="elsewhere.json"), "path is 'elsewhere.json', but"),
            ("commit", record(commit="f" * 40), "but 'sample' in the ledger"),
            ("licence", record(licence="MIT"), "licence is 'MIT', but"),
            ("repository", record(original_repository=_HOME), "but None in the ledger"),
            ("repository, both", both(original_repository=_HOME), "only the GitHub"),
            ("origin", record(origin="upstream"), "origin is 'upstream', but"),
            ("source, both", both(source="local"), "no pin of local"),
            ("path, both", both(path="elsewhere.json"), "none that is read of"),
            ("commit, both", both(commit="f" * 40), "commit ffff"),
            ("licence, both", both(licence="MIT"), "the sample's is Apache-2.0"),
            ("origin, both", both(origin="upstream"), "of origin upstream"),
            ("changes", record(changes=["wrap"]), "changes is ['wrap'], but"),
            ("repaired", record(repaired=["wrap"]), "repaired is ['wrap'], unlike"),
            ("edits", rewrite(CHANGES, lambda rows: rows.head(0)), "changes is"),
        ),
    )
)
