"""Changes to the ledger's tables and to instances."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import polars as pl

from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.instances.dataset.parquet import (
    AJV,
    DISAGREEMENTS,
    INSTANCE_LEDGER,
    MISSING,
    UNREACHED,
)
from curation.verification.checks.instances import INSTANCES as JUDGED
from curation.verification.derivations.ledger_tables import LEDGER_TABLES
from curation.verification.derivations.remaking import REMAKING
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


def _near_miss(name: str, value: object) -> Callable[[Path], None]:
    return where(INSTANCES, _NEAR_MISS, **{name: value})


def _doubled(rows: pl.DataFrame) -> pl.DataFrame:
    last = rows.tail(1).with_columns(pl.col("document") + 1)
    return pl.concat([rows, last])


def _listed_disagreement(folder: Path) -> None:
    """List an instance on which the validators agree."""
    row = pl.read_parquet(folder / INSTANCES).row(0, named=True)
    listed = {
        **{name: row[name] for name in ("unique_id", "number", "kind", "text")},
        "config": "Github_easy",
        "dialect": "draft-07",
        "jsonschema_rs": True,
        "jsonschema": False,
        "verdicts": row["verdicts"],
    }
    rewrite(
        DISAGREEMENTS,
        lambda rows: pl.concat([rows, pl.DataFrame([listed], schema=rows.schema)]),
    )(folder)


def _listed_of_ajv(**changed: object) -> Callable[[Path], None]:
    """List an instance as one that AJV judges otherwise, some of it changed."""

    def change(folder: Path) -> None:
        row = pl.read_parquet(folder / INSTANCES).row(0, named=True)
        listed = {
            **{name: row[name] for name in ("unique_id", "number", "kind", "text")},
            "config": "Github_easy",
            "dialect": "draft-07",
            "valid": row["valid"],
            "cause": "ref_siblings",
            **changed,
        }
        rewrite(
            AJV,
            lambda rows: pl.concat([rows, pl.DataFrame([listed], schema=rows.schema)]),
        )(folder)

    return change


LEDGER_TAMPERS = list(
    chain(
        tampers(
            REMAKING,
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
                "place of a missing near miss",
                where(MISSING, pl.lit(value=True), schema_pointer="/x"),
                "schema_pointer of its row 0",
            ),
            (
                "sites and branches",
                where(INSTANCE_LEDGER, pl.lit(value=True), targets=1_000),
                "targets of its row 0",
            ),
            (
                "most that there can be",
                where(INSTANCE_LEDGER, pl.lit(value=True), pairs_possible=1_000),
                "pairs_possible of its row 0",
            ),
        ),
        tampers(
            LEDGER_TABLES,
            (
                "outcome unknown",
                cell(DOCUMENTS, 0, {"outcome": "lost"}),
                "there is not",
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
            ("kind", _near_miss("kind", "minimal"), "near miss that is valid"),
            ("kind unknown", instance("kind", "mine"), "a kind that there is not"),
            ("number", instance("number", 77), "not numbered one by one"),
            (
                "agreed",
                where(INSTANCE_LEDGER, FIRST, agreed=99),
                "agreed is not what",
            ),
            ("disputed", where(INSTANCE_LEDGER, FIRST, disputed=9), "disputed is not"),
            ("answer", where(INSTANCE_LEDGER, FIRST, answer="unknown"), "the answer"),
            (
                "pairs",
                where(INSTANCE_LEDGER, FIRST, pairs=999, keywords=99),
                "missing",
            ),
            ("disagreements", _listed_disagreement, "on which the validators differ"),
            ("AJV's cause", _listed_of_ajv(cause="mood"), "a cause that there"),
            ("AJV's text", _listed_of_ajv(text="[]"), "no instance of the record"),
            (
                "missing pairs",
                rewrite(MISSING, lambda rows: rows.head(0)),
                "not as many",
            ),
            (
                "table of others",
                copy_of(MISSING, "ledger/mine.parquet"),
                "no table of",
            ),
            (
                "unreached dropped",
                rewrite(UNREACHED, lambda rows: rows.head(0)),
                "unreached places",
            ),
            ("report removed", lambda folder: (folder / MISSING).unlink(), "without"),
        ),
        tampers(
            JUDGED,
            (
                "labels",
                rewrite(INSTANCES, lambda r: r.with_columns(valid=~pl.col("valid"))),
                "valid is",
            ),
            ("texts", _near_miss("text", "{}"), "instance"),
            ("keyword", _near_miss("keyword", "const"), "const at"),
            ("schema pointer", _near_miss("schema_pointer", "/x"), "at /x"),
            ("instance pointer", _near_miss("instance_pointer", "/x"), "instance"),
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
