"""Changes to the ledger's tables and to instances."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import polars as pl

from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.instances.dataset.parquet import DISAGREEMENTS, INSTANCE_LEDGER, MISSING
from curation.verification.labels import LABELS
from curation.verification.records import ROWS
from tests.curation.verification.tampering import (
    COPIES,
    FIRST,
    INSTANCES,
    KEPT,
    cell,
    copy_of,
    instance,
    rewrite,
    tampers,
    where,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


_SOME = pl.col("document") % 50 == 0

_NEAR_MISS = pl.col("kind") == "near_miss"


def _ledger(**values: object) -> Callable[[Path], None]:
    return where(INSTANCE_LEDGER, pl.lit(value=True), **values)


def _near_miss(name: str, value: object) -> Callable[[Path], None]:
    return where(INSTANCES, _NEAR_MISS, **{name: value})


def _doubled(rows: pl.DataFrame) -> pl.DataFrame:
    last = rows.tail(1).with_columns(pl.col("document") + 1)
    return pl.concat([rows, last])


def _listed(path: str, **values: object) -> Callable[[Path], None]:
    """List one instance of every record in a table of the ledger."""

    def change(folder: Path) -> None:
        firsts = pl.read_parquet(folder / INSTANCES).unique("unique_id")
        instances = firsts.with_columns(
            pl.lit(value).alias(name)
            for name, value in {
                "config": "Github_easy",
                "dialect": "draft-07",
                **values,
            }.items()
        )
        rewrite(
            path,
            lambda rows: pl.concat(
                [rows, instances.select(rows.columns).cast(rows.schema)]
            ),
        )(folder)

    return change


LEDGER_TAMPERS = list(
    chain(
        tampers(
            LABELS,
            (
                "kind of witness",
                where(INSTANCES, pl.col("kind") == "minimal", kind="random"),
                "kind of its row 0",
            ),
            (
                "order of instances",
                rewrite(INSTANCES, lambda rows: rows.reverse().sort("unique_id")),
                "number of its row 0",
            ),
            (
                "most that there can be",
                _ledger(pairs_possible=1_000),
                "pairs_possible of its row 0",
            ),
            ("agreed", _ledger(agreed=99), "agreed of its row 0"),
            ("disputed", _ledger(disputed=9), "disputed of its row 0"),
            ("answer", _ledger(answer="unknown"), "answer of its row 0"),
            ("pairs", _ledger(pairs=999, keywords=99), "pairs of its row 0"),
            (
                "disagreements",
                _listed(DISAGREEMENTS, jsonschema_rs=True, jsonschema=False),
                "disagreements.pq",
            ),
        ),
        # Few records lack a near miss: a sample of the sample may miss them all.
        tampers(
            LABELS,
            (
                "place of a missing near miss",
                where(MISSING, pl.lit(value=True), schema_pointer="/x"),
                "schema_pointer of its row 0",
            ),
            ("missing pairs", rewrite(MISSING, lambda rows: rows.head(0)), "missing"),
            whole=True,
        ),
        tampers(
            ROWS,
            (
                "outcome unknown",
                cell(DOCUMENTS, 0, {"outcome": "lost"}),
                "that no build writes",
            ),
            (
                "split cleared",
                where(DOCUMENTS, KEPT & _SOME, split=""),
                "a split and no rule",
            ),
            ("a copy's first", where(DOCUMENTS, COPIES, detail="a/b"), "no copy of"),
            ("numbers", rewrite(DOCUMENTS, lambda rows: rows.slice(1)), "one by one"),
            ("twice", rewrite(DOCUMENTS, _doubled), "stands there twice"),
            ("stray edit", where(CHANGES, FIRST, document=99_999), "of no document"),
            ("one label", where(INSTANCES, FIRST, valid=False), "witness that is not"),
            ("kind", _near_miss("kind", "minimal"), "near_misses are not as many"),
            ("kind unknown", instance("kind", "mine"), "a kind that no build writes"),
            ("number", instance("number", 77), "not numbered one by one"),
            ("table of others", copy_of(MISSING, "ledger/mine.parquet"), "no table of"),
            ("report removed", lambda folder: (folder / MISSING).unlink(), "without"),
        ),
        tampers(
            LABELS,
            (
                "labels",
                rewrite(INSTANCES, lambda r: r.with_columns(valid=~pl.col("valid"))),
                "valid is",
            ),
            ("texts", _near_miss("text", "{}"), "instance"),
            ("keyword", _near_miss("keyword", "const"), "const at"),
            ("schema pointer", _near_miss("schema_pointer", "/x"), "at /x"),
            ("instance pointer", _near_miss("instance_pointer", "/x"), "instance"),
            ("position", _near_miss("fails_at", 999), "fails_at is 999, but"),
            (
                "verdicts",
                _near_miss(
                    "verdicts",
                    '{"jsonschema_rs": [true, true], "jsonschema": [true, true]}',
                ),
                "are not those of the validators",
            ),
        ),
    )
)
