"""Does a schema of GitHub say itself the repository that its row states?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from curation.core.documents import Origin
from curation.download.pins import load_pins
from curation.sources.claims.original_repositories import (
    COLLECTED,
    LIST,
    claimed_repository,
)
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.verification.core.folder_contents import FolderContents


def repository_fault(text: str, stated: str | None) -> str:
    """Return what is wrong with the repository that a row states; empty for nothing.

    Args:
        text: The schema of the row, which was made without the corpus's own list.
        stated: The row's `original_repository`.
    """
    claimed = claimed_repository(text.encode("utf-8", "surrogatepass"))
    if claimed is not None and claimed != stated:
        return f"original_repository is {stated!r}, but its id leads to {claimed}"
    name = (stated or "").casefold().removeprefix("https://github.com/")
    if name not in text.casefold():
        return f"original_repository is {stated!r}, of which the schema says nothing"
    return ""


def unlike_the_schemas(contents: FolderContents, check: str) -> Iterator[Finding]:
    """Yield each record of GitHub's whose schema names another repository.

    Nothing where the corpus's own list is read, which no dataset folder holds.

    Args:
        contents: The folder.
        check: The name of the check, for the findings.
    """
    if LIST in load_pins()["json-schema-corpus"].paths:
        return
    names = ["unique_id", "json_schema", "original_repository"]
    for table in contents.records():
        there = set(table.metadata.schema.to_arrow_schema().names)
        if not {*names, "source", "origin"} <= there:
            continue
        repository = pl.col("original_repository").is_not_null()
        rows = (
            pl.scan_parquet(contents.files[table.path], glob=False)
            .filter(source=COLLECTED)
            .filter(pl.col("origin") != Origin.SAMPLE.value)
            .filter(
                repository | pl.col("json_schema").str.contains("git", literal=True)
            )
            .select(names)
            .collect()
        )
        for unique_id, text, stated in rows.iter_rows():
            fault = repository_fault(text, stated)
            if fault:
                where = f"{table.folder}/{unique_id}"
                yield Finding(check=check, where=where, detail=fault)
