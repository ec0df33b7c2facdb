"""Means of changing a built folder as somebody would who wants not to be noticed.

What is changed is written as a build writes it, and what is derived of the folder is
made anew afterwards, so that neither digests nor card give it away.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec
import polars as pl
import pytest

from curation.dataset import ledger
from curation.dataset.parquet import SplitFiles, parquet_writer
from curation.json.text import digest, write
from curation.packaging.derived_files import write_derived
from curation.packaging.tables import table_form
from curation.schema.dialects import BY_NAME
from curation.schema.subschemas import skeleton_digest
from curation.verification import verify_folder
from curation.verification.check import open_folder
from curation.verification.labels import LABELS
from curation.verification.records import ROWS
from curation.verification.tables import DERIVED
from curation.workers.limits import Ending, ProcessResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.verification import Finding, Verification
    from curation.verification.check import FolderCheck


def lines(found: Verification) -> list[str]:
    """Return the failures as lines."""
    return [str(each) for each in found.failures]


def said_by(check: FolderCheck, folder: Path) -> list[str]:
    """Return the failures that one check finds, as lines."""
    return lines(verify_folder(folder, checks=[check]))


RECORDS = "Github_easy/train-00000-of-00001.parquet"
INSTANCES = f"instances/{RECORDS}"
#: Rows of the ledger that are kept, and those that are copies of another.
KEPT = pl.col("outcome") == "kept"
COPIES = pl.col("rule") == "duplicates"
#: The first row of a table, and every one.
FIRST = pl.int_range(pl.len()) == 0
EVERY = pl.lit(value=True)


@dataclass(frozen=True, kw_only=True)
class Tamper:
    """One way to change a folder, and who notices."""

    name: str
    do: Callable[[Path], object]
    check: FolderCheck
    #: Stands in what the check says.
    said: str
    #: Whether all is judged, and no sample.
    whole: bool = False


def rewrite(
    path: str, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> Callable[[Path], None]:
    """Return what writes a table again, changed, as a build writes it.

    A table that no build writes without rows begins empty.
    """

    def do(folder: Path) -> None:
        form = table_form(path)
        assert form is not None
        was = pl.DataFrame(form.columns.empty_table())
        if (folder / path).exists():
            was = pl.read_parquet(folder / path)
        rows = change(was).to_arrow().cast(form.columns)
        inside, _, name = path.rpartition("/")
        if inside == "ledger":
            writer = parquet_writer(folder / path, form.columns, distinct=form.distinct)
            with writer:
                writer.write_table(rows)
            return
        with SplitFiles(folder, inside, name.partition("-")[0], form) as files:
            for row in rows.to_pylist():
                files.add(SimpleNamespace(**{**row, form.text: row[form.text] or ""}))

    return do


def cell(path: str, row: int, values: Mapping[str, object]) -> Callable[[Path], None]:
    """Return what sets columns of one row of a table."""

    def change(rows: pl.DataFrame) -> pl.DataFrame:
        listed = rows.to_dicts()
        listed[row] |= values
        return pl.DataFrame(listed, schema=rows.schema)

    return rewrite(path, change)


def where(path: str, chosen: pl.Expr, /, **values: object) -> Callable[[Path], None]:
    """Return what sets columns of every row of a table that an expression chooses."""

    def change(rows: pl.DataFrame) -> pl.DataFrame:
        assert rows.filter(chosen).height
        return rows.with_columns(
            pl.when(chosen).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
            for name, value in values.items()
        )

    return rewrite(path, change)


def record(**values: object) -> Callable[[Path], None]:
    """Return what sets columns of the first record of a table."""
    return cell(RECORDS, 0, values)


def both(**values: object) -> Callable[[Path], None]:
    """Return what sets columns of a record, and of its document in the ledger."""

    def do(folder: Path) -> None:
        name = pl.read_parquet(folder / RECORDS)["unique_id"][0]
        record(**values)(folder)
        own = (pl.col("unique_id") == name) & (pl.col("config") == "Github_easy")
        told = ledger.DOCUMENT_COLUMNS.names
        shared = {name: value for name, value in values.items() if name in told}
        where(ledger.DOCUMENTS, own, **shared)(folder)

    return do


def schema(value: UntypedJson, dialect: str = "2020-12") -> dict[str, str]:
    """Return the columns of a schema with the digests that are its own."""
    return {
        "json_schema": write(value),
        "dialect": dialect,
        "sha256": digest(value),
        "skeleton_sha256": skeleton_digest(value, BY_NAME[dialect]),
    }


def manifest(change: Callable[[UntypedJson], object]) -> Callable[[Path], None]:
    """Return what changes the manifest in place."""

    def do(folder: Path) -> None:
        path = folder / "manifest.json"
        stated = msgspec.json.decode(path.read_bytes())
        change(stated)
        path.write_bytes(msgspec.json.encode(stated))

    return do


def all_of(*steps: Callable[[Path], object]) -> Callable[[Path], None]:
    """Return what does several things."""

    def do(folder: Path) -> None:
        for step in steps:
            step(folder)

    return do


def text_file(path: str, content: str) -> Callable[[Path], object]:
    """Return what writes a text file."""
    return lambda folder: (folder / path).write_text(content)


def copy_of(path: str, to: str) -> Callable[[Path], object]:
    """Return what copies a file within the folder."""

    def do(folder: Path) -> None:
        (folder / to).parent.mkdir(exist_ok=True)
        (folder / to).write_bytes((folder / path).read_bytes())

    return do


def tampers(
    check: FolderCheck,
    *listed: tuple[str, Callable[[Path], object], str],
    whole: bool = False,
) -> list[Tamper]:
    """Return ways to change a folder, and what the check says that notices them."""
    return [
        Tamper(name=name, do=do, check=check, said=said, whole=whole)
        for name, do, said in listed
    ]


def card_again(folder: Path) -> None:
    """Write what is derived of a folder anew, but for its plots."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("curation.packaging.derived_files.draw_plots", lambda *_: None)
        write_derived(folder, folder)


def judged(
    check: FolderCheck, folder: Path, *, whole: bool = False, quick: bool = False
) -> list[Finding]:
    """Return what a check finds in a folder, its items done in this process.

    Args:
        check: The check.
        folder: The folder.
        whole: Whether all is judged, and no sample.
        quick: Whether tables of other configs and all rows but the first are left out.
    """
    contents = open_folder(folder)
    outcomes = []
    for batch in check.batches(contents):
        for listed in batch:
            if (
                quick
                and check in (DERIVED, LABELS, ROWS)
                and ("Github_easy" not in listed.where or listed.row > 0)
            ):
                continue
            item = msgspec.structs.replace(listed, whole=whole)
            try:
                answer = msgspec.json.encode(check.work(folder, item))
                outcome = ProcessResult(ending=Ending.OK, text=answer)
            except Exception as error:  # noqa: BLE001 - as a worker does
                outcome = ProcessResult(ending=Ending.ERROR, detail=str(error))
            outcomes.append((item, outcome))
    return [*contents.findings, *check.conclude(contents, outcomes).findings]


def said_here(
    check: FolderCheck, folder: Path, *, whole: bool = False, quick: bool = False
) -> list[str]:
    """Return the failures of `judged`, as lines."""
    found = judged(check, folder, whole=whole, quick=quick)
    return [str(finding) for finding in found if finding.failure]
