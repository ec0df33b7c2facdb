"""Do rows, ledger and pins agree on where a schema comes from, and what was changed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq

from curation.core.documents import KEPT, Origin
from curation.core.github_subsets import VACUOUS, final_config, is_github_config
from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.download.pins import load_pins
from curation.packaging.manifest import read_facts
from curation.sources.base import SAMPLE_LICENCE
from curation.sources.claims.original_repositories import COLLECTED, repository_licences
from curation.system.package_data import raw_folder
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.derivations.repositories import unlike_the_schemas
from curation.verification.derivations.rule_list import (
    mechanical_rules,
    sizes_by_raw_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.packaging.manifest import BuildFacts
    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "provenance"
_COLUMNS = (
    "source",
    "path",
    "commit",
    "licence",
    "original_repository",
    "origin",
)
#: Findings of one kind that are listed one by one.
_MOST = 20
_UNKNOWN = "NOASSERTION"


def _limited(findings: Iterator[Finding], where: str) -> Iterator[Finding]:
    """Yield the first findings of a kind, and the number of the others."""
    more = 0
    for number, finding in enumerate(findings):
        if number < _MOST:
            yield finding
        else:
            more += 1
    if more:
        detail = f"{more:,} more rows of which the same is wrong"
        yield Finding(check=_NAME, where=where, detail=detail)


def _kept(contents: FolderContents) -> pl.DataFrame:
    """Return the kept documents, with the rules that changed each, in order."""
    documents = pl.scan_parquet(contents.files[DOCUMENTS], glob=False)
    kept = documents.filter(pl.col("outcome") == KEPT)
    edits = (
        pl.scan_parquet(contents.files[CHANGES], glob=False)
        .group_by("document", maintain_order=True)
        .agg(changes=pl.col("rule").unique(maintain_order=True))
    )
    return (
        kept.select("document", "config", "unique_id", *_COLUMNS)
        .join(edits, on="document", how="left")
        .with_columns(pl.col("changes").fill_null(pl.lit([], pl.List(pl.String))))
        .collect()
    )


def _rows(contents: FolderContents) -> pl.DataFrame:
    names = ["unique_id", *_COLUMNS, "changes", "repaired"]
    frames = [
        pl.DataFrame(
            pl.from_arrow(pq.read_table(contents.files[table.path], columns=names))
        ).with_columns(config=pl.lit(table.folder))
        for table in contents.records()
        if set(names) <= set(table.metadata.schema.to_arrow_schema().names)
    ]
    types = dict.fromkeys(["unique_id", *_COLUMNS], pl.String())
    empty = pl.DataFrame(
        schema={
            **types,
            **dict.fromkeys(("changes", "repaired"), pl.List(pl.String)),
            "config": pl.String,
        }
    )
    return pl.concat([empty, *frames])


def _unlike_the_ledger(
    contents: FolderContents, facts: BuildFacts
) -> Iterator[Finding]:
    """Yield each record of which its row and the ledger say different things."""
    rows = _rows(contents)
    mechanical = list(mechanical_rules(facts.rules))
    repairs = pl.col("changes").list.filter(pl.element().is_in(mechanical))
    for config, unique_id, repaired in (
        rows.filter(pl.col("repaired").ne_missing(repairs))
        .select("config", "unique_id", "repaired")
        .iter_rows()
    ):
        yield Finding(
            check=_NAME,
            where=f"{config}/{unique_id}",
            detail=f"repaired is {repaired}, unlike the rules that changed it",
        )
    both = rows.join(_kept(contents), on=["config", "unique_id"], suffix="_there")
    for name in (*_COLUMNS, "changes"):
        wrong = both.filter(pl.col(name).ne_missing(pl.col(f"{name}_there")))
        for row in wrong.iter_rows(named=True):
            yield Finding(
                check=_NAME,
                where=f"{row['config']}/{row['unique_id']}",
                detail=f"{name} is {row[name]!r}, but {row[f'{name}_there']!r} in the "
                "ledger",
            )


def _in_another_config(contents: FolderContents, rules: str) -> Iterator[Finding]:
    """Yield each record in another config than its document and size say."""
    by_raw_file = sizes_by_raw_file(rules)
    told = (
        pl.scan_parquet(contents.files[DOCUMENTS], glob=False)
        .filter(pl.col("outcome") == KEPT)
        .select("config", "unique_id", "raw_config", "raw_field_count")
        .collect()
    )
    names = ["unique_id", "field_count", "vacuous"]
    for table in contents.records():
        rows = pl.read_parquet(contents.files[table.path], columns=names, glob=False)
        both = rows.with_columns(config=pl.lit(table.folder)).join(
            told, on=["config", "unique_id"]
        )
        for row in both.iter_rows(named=True):
            raw_config = row["raw_config"]
            if by_raw_file:
                wanted = final_config(raw_config, row["raw_field_count"])
            else:
                fields, vacuous = row["field_count"], row["vacuous"]
                wanted = final_config(raw_config, fields, vacuous=vacuous)
            is_sized = is_github_config(raw_config) or raw_config == VACUOUS
            if table.folder != wanted or is_sized:
                detail = f"read for {raw_config}, it belongs in {wanted}"
                where = f"{table.folder}/{row['unique_id']}"
                yield Finding(check=_NAME, where=where, detail=detail)


def _unlike_the_pins(contents: FolderContents, facts: BuildFacts) -> Iterator[Finding]:
    """Yield each raw document that cannot come from an archive that is pinned."""
    pinned = {(pin.source, pin.origin, pin.commit): pin.archive for pin in facts.pins}
    archives = load_pins()
    licences = repository_licences(raw_folder() / "lists")
    documents = pl.read_parquet(
        contents.files[DOCUMENTS],
        columns=["config", "unique_id", *_COLUMNS],
        glob=False,
    )
    for row in documents.iter_rows(named=True):
        archive = pinned.get((row["source"], row["origin"], row["commit"]))
        fault = ""
        if archive is None:
            fault = (
                f"no pin of {row['source']} is of origin {row['origin']} and commit "
                f"{row['commit']}"
            )
        elif row["origin"] == Origin.SAMPLE and row["licence"] != SAMPLE_LICENCE:
            fault = f"licence is {row['licence']}; the sample's is {SAMPLE_LICENCE}"
        elif row["original_repository"] and (
            row["source"] != COLLECTED or row["origin"] == Origin.SAMPLE
        ):
            fault = "only the GitHub corpus has files from other repositories"
        elif archive in archives and row["origin"] != Origin.LOCAL:
            known = archives[archive]
            fetched = row["path"].startswith(("https://", "http://"))
            wanted = _licence_of(row, known.file_licence, licences)
            if not fetched and row["path"].partition("#")[0] not in known.paths:
                fault = f"path {row['path']!r} is none that is read of {archive}"
            elif _is_another_licence(row["licence"], wanted) and (
                row["origin"] != Origin.SAMPLE and not fetched
            ):
                fault = f"licence is {row['licence']}; files of {archive} have {wanted}"
                if row["original_repository"]:
                    fault += f", or that of {row['original_repository']}"
        if fault:
            where = f"{row['config']}/{row['unique_id']}"
            yield Finding(check=_NAME, where=where, detail=fault)


def _licence_of(
    row: Mapping[str, str | None], of_archive: str, licences: Mapping[str, str]
) -> str | None:
    """Return the licence that a row must state; None where each file has its own."""
    if _UNKNOWN not in of_archive:
        return of_archive
    if row["source"] != COLLECTED:
        return None
    return licences.get((row["original_repository"] or "").casefold(), _UNKNOWN)


def _is_another_licence(stated: str, wanted: str | None) -> bool:
    """Return whether a file states another licence than it must."""
    return wanted is not None and stated != wanted


def _judge(contents: FolderContents, _results: Sequence[UnitResult]) -> CheckResult:
    if not {DOCUMENTS, CHANGES} <= contents.tables.keys() or not contents.manifest:
        return CheckResult()
    facts = read_facts(contents.folder)
    return CheckResult(
        findings=[
            *_limited(_unlike_the_ledger(contents, facts), "rows"),
            *_limited(_in_another_config(contents, facts.rules), "rows"),
            *_limited(_unlike_the_pins(contents, facts), DOCUMENTS),
            *_limited(unlike_the_schemas(contents, _NAME), "rows"),
        ]
    )


PROVENANCE = FolderCheck(
    name=_NAME,
    question="do rows, ledger and pins agree on source, licence and changes?",
    judge=_judge,
)
