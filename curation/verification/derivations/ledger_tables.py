"""Do the tables of the ledger follow from each other, and from the instances?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from curation.core.benchmark import LEDGER, holds_instances, records_config
from curation.core.documents import KEPT, Reason
from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.instances.dataset.parquet import (
    AJV,
    DISAGREEMENTS,
    INSTANCE_LEDGER,
    LEDGER_COLUMNS,
    MISSING,
    UNREACHED,
)
from curation.instances.judging.ajv_differences import AjvCause
from curation.instances.model import InstanceKind
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "ledger"
_MOST = 20
_KEY = ["config", "unique_id"]


def _table(contents: FolderContents, path: str) -> pl.LazyFrame:
    return pl.scan_parquet(contents.files[path], glob=False)


def _named(frame: pl.DataFrame, where: str, detail: str) -> Iterator[Finding]:
    """Yield a finding for each of the first rows, by its config and id."""
    for config, unique_id in frame.select(_KEY).head(_MOST).iter_rows():
        place = f"{config}/{unique_id}"
        yield Finding(check=_NAME, where=place, detail=f"{where}: {detail}")
    if len(frame) > _MOST:
        more = f"{len(frame) - _MOST:,} more rows: {detail}"
        yield Finding(check=_NAME, where=where, detail=more)


def _documents(contents: FolderContents) -> Iterator[Finding]:
    documents = _table(contents, DOCUMENTS).collect()
    numbers = documents["document"].to_list()
    if numbers != list(range(len(numbers))):
        detail = "its documents are not numbered one by one"
        yield Finding(check=_NAME, where=DOCUMENTS, detail=detail)
    outcomes = {KEPT, *(reason.value for reason in Reason)}
    odd = documents.filter(~pl.col("outcome").is_in(list(outcomes)))
    yield from _named(odd, DOCUMENTS, "an outcome that there is not")
    kept = pl.col("outcome") == KEPT
    wrong = documents.filter(
        (kept != (pl.col("split") != "")) | (kept != (pl.col("rule") == ""))
    )
    yield from _named(wrong, DOCUMENTS, "a kept document has a split and no rule")
    again = documents.filter(pl.struct("raw_config", "unique_id").is_duplicated())
    yield from _named(again, DOCUMENTS, "stands there twice")
    first = documents.select(
        "sha256", name=pl.concat_str("config", "unique_id", separator="/")
    ).unique("name")
    copies = documents.filter(
        (pl.col("outcome") == Reason.DUPLICATE.value) & (pl.col("rule") == "duplicates")
    ).join(first, left_on="detail", right_on="name", how="left", suffix="_first")
    lost = copies.filter(pl.col("sha256").ne_missing(pl.col("sha256_first")))
    yield from _named(lost, DOCUMENTS, "is no copy of the schema that it names")
    strays = _table(contents, CHANGES).filter(~pl.col("document").is_in(numbers))
    if count := strays.select(pl.len()).collect().item():
        detail = f"{count:,} changes of no document"
        yield Finding(check=_NAME, where=CHANGES, detail=detail)


#: A text's hash in place of the text: all texts of a build do not belong in memory.
_TEXT = pl.col("text").hash()


def _instances(contents: FolderContents) -> pl.DataFrame:
    """Return what the ledger derives from, of every instance."""
    said = pl.col("verdicts").str.json_path_match("$.jsonschema[0]")
    rust = pl.col("verdicts").str.json_path_match("$.jsonschema_rs[0]")
    return pl.concat(
        _table(contents, table.path)
        .select("unique_id", "number", "kind", "valid", _TEXT, "verdicts")
        .with_columns(
            config=pl.lit(records_config(table.folder)),
            python=said == "true",
            rust=rust == "true",
        )
        .collect(engine="streaming")
        for table in contents.tables.values()
        if holds_instances(table.folder)
    )


def _of_instances(contents: FolderContents) -> Iterator[Finding]:
    rows = _instances(contents)
    refused = pl.col("kind") == InstanceKind.NEAR_MISS.value
    kinds = [kind.value for kind in InstanceKind]
    places = "instances"
    yield from _named(
        rows.filter(~pl.col("kind").is_in(kinds)), places, "a kind that there is not"
    )
    yield from _named(
        rows.filter(pl.col("valid").ne_missing(~refused)),
        places,
        "a near miss that is valid, or a witness that is not",
    )
    yield from _named(
        rows.filter(pl.col("valid").ne_missing(pl.col("rust"))),
        places,
        "`valid` is not the verdict of jsonschema-rs that the row gives",
    )
    numbers = rows.group_by(_KEY).agg(
        least=pl.col("number").min(),
        most=pl.col("number").max(),
        distinct=pl.col("number").n_unique(),
        count=pl.len(),
    )
    yield from _named(
        numbers.filter(
            (pl.col("least") != 0)
            | (pl.col("most") + 1 != pl.col("count"))
            | (pl.col("distinct") != pl.col("count"))
        ),
        places,
        "its instances are not numbered one by one",
    )
    yield from _sums(contents, rows)
    yield from _differing(contents, rows)
    yield from _of_ajv(contents, rows)
    yield from _missing_pairs(contents)
    yield from _unreached(contents)


def _sums(contents: FolderContents, rows: pl.DataFrame) -> Iterator[Finding]:
    """Compare the ledger's figures of each record with its instances."""
    refused = pl.col("kind") == InstanceKind.NEAR_MISS.value
    judged = pl.col("python").is_not_null()
    counted = rows.group_by(_KEY).agg(
        witnesses=(~refused).sum(),
        agreed=(
            ~refused & pl.col("valid") & pl.col("python").fill_null(value=False)
        ).sum(),
        unrefused=(
            ~refused & ~pl.col("verdicts").str.contains("false", literal=True)
        ).sum(),
        given=(pl.col("kind") == InstanceKind.GIVEN.value).sum(),
        near_misses=refused.sum(),
        judged_by_both=judged.sum(),
        disputed=(judged & (pl.col("python") != pl.col("valid"))).sum(),
    )
    stated = _table(contents, INSTANCE_LEDGER).collect()
    both = stated.join(counted, on=_KEY, how="left", suffix="_there")
    for name in (
        *("witnesses", "agreed", "unrefused", "given", "near_misses"),
        *("judged_by_both", "disputed"),
    ):
        there = pl.col(f"{name}_there").fill_null(0)
        wrong = both.filter(pl.col(name).cast(pl.Int64) != there.cast(pl.Int64))
        yield from _named(wrong, INSTANCE_LEDGER, f"{name} is not what the rows give")
    impossible = stated.filter(
        ((pl.col("witnesses") > 0) & (pl.col("answer") != "satisfiable"))
        | ((pl.col("answer") == "unsatisfiable") & (pl.col("near_misses") > 0))
    )
    yield from _named(impossible, INSTANCE_LEDGER, "the answer is not that of its rows")


def _differing(contents: FolderContents, rows: pl.DataFrame) -> Iterator[Finding]:
    """Compare the list of disagreements with the instances."""
    names = [*_KEY, "number", "kind", "text", "verdicts"]
    wanted = rows.filter(
        pl.col("python").is_not_null() & (pl.col("python") != pl.col("valid"))
    ).select(*names, jsonschema_rs="valid", jsonschema="python")
    stated = (
        _table(contents, DISAGREEMENTS)
        .with_columns(_TEXT)
        .select(wanted.columns)
        .collect()
    )
    for one, other, fact in (
        (wanted, stated, "the validators differ, and it is not listed"),
        (stated, wanted, "no instance on which the validators differ"),
    ):
        lost = one.join(other, on=wanted.columns, how="anti")
        yield from _named(lost, DISAGREEMENTS, fact)


def _of_ajv(contents: FolderContents, rows: pl.DataFrame) -> Iterator[Finding]:
    """Compare what AJV is known to judge otherwise with the instances."""
    stated = _table(contents, AJV).with_columns(_TEXT).collect()
    causes = [cause.value for cause in AjvCause]
    odd = stated.filter(~pl.col("cause").is_in(causes))
    yield from _named(odd, AJV, "a cause that there is not")
    names = [*_KEY, "number", "kind", "text", "valid"]
    lost = stated.join(rows, on=names, how="anti")
    yield from _named(lost, AJV, "no instance of the record")
    again = stated.filter(pl.struct(*_KEY, "number").is_duplicated())
    yield from _named(again, AJV, "stands there twice")


def _missing_pairs(contents: FolderContents) -> Iterator[Finding]:
    """Compare the missing near misses with the ledger's figures.

    Of a record with as many near misses as there may be, only keywords that have
    none at all are listed (`curation.instances.near_misses.coverage`).
    """
    listed = (
        _table(contents, MISSING)
        .group_by(_KEY)
        .agg(listed=pl.len(), lost=pl.col("keyword").n_unique())
    )
    stated = _table(contents, INSTANCE_LEDGER).collect()
    figures = ("pairs", "keywords")
    pairs, keywords = (
        (
            pl.col(name) - pl.col(f"{name}_covered") - pl.col(f"{name}_implied")
        ).fill_null(0)
        for name in figures
    )
    both = stated.join(
        listed.collect(), on=_KEY, how="full", coalesce=True
    ).with_columns(pl.col("listed", "lost").fill_null(0))
    wrong = both.filter((pairs != pl.col("listed")) & (keywords != pl.col("lost")))
    fact = "its missing near misses are not as many as the ledger says"
    yield from _named(wrong, MISSING, fact)


def _unreached(contents: FolderContents) -> Iterator[Finding]:
    """Compare the places that no witness reaches with the ledger's figures."""
    listed = (
        _table(contents, UNREACHED)
        .group_by(_KEY)
        .agg(listed=pl.len(), proven=(pl.col("proof") != "").sum())
    )
    stated = _table(contents, INSTANCE_LEDGER).collect()
    both = stated.join(
        listed.collect(), on=_KEY, how="full", coalesce=True
    ).with_columns(
        pl.col("listed", "proven", "unreached", "out_of_reach")
        .fill_null(0)
        .cast(pl.Int64)
    )
    wrong = both.filter(
        (pl.col("listed") != pl.col("unreached"))
        | (pl.col("proven") != pl.col("out_of_reach"))
    )
    fact = "its unreached places are not as many as the ledger says"
    yield from _named(wrong, UNREACHED, fact)


def _judge(contents: FolderContents, _results: Sequence[UnitResult]) -> CheckResult:
    findings: list[Finding] = []
    known = {DOCUMENTS, CHANGES}
    if known <= contents.tables.keys():
        findings += _documents(contents)
    made = any(holds_instances(table.folder) for table in contents.tables.values())
    there = {path for path in LEDGER_COLUMNS if path in contents.tables}
    if made and there == LEDGER_COLUMNS.keys():
        findings += _of_instances(contents)
    elif made != bool(there) or (made and there != LEDGER_COLUMNS.keys()):
        detail = "instances without their ledger, or a ledger without instances"
        findings.append(Finding(check=_NAME, where=LEDGER, detail=detail))
    findings += [
        Finding(check=_NAME, where=path, detail="no table of a build's ledger")
        for path, table in contents.tables.items()
        if table.folder == LEDGER and path not in known | LEDGER_COLUMNS.keys()
    ]
    return CheckResult(findings=findings)


LEDGER_TABLES = FolderCheck(
    name=_NAME,
    question="do the ledger's tables follow from each other, and from the instances?",
    judge=_judge,
)
