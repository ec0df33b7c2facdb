"""Check that everything is written as a build writes it: tables, card, plots, lists.

Written again by the same pyarrow, a table has the same bytes: nothing else can stand in
its metadata, its statistics, or between its pages, and its row groups and page indexes
are those that the Hub's viewer needs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.core.benchmark import LEDGER, natural_key
from curation.dataset.parquet import (
    RECORDS,
    TableForm,
    is_full,
    parquet_writer,
    row_group_sizes,
)
from curation.packaging.derived_files import differing_files
from curation.packaging.table_columns import table_form
from curation.system.checksums import file_digest
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    ItemResult,
    answers,
)
from curation.verification.findings import Finding

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents

_NAME = "derived"
#: Path and fault of each file that is written otherwise.
_Faults = list[tuple[str, str]]


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    # Nothing can be computed from unreadable data, which is reported already.
    if not contents.findings:
        yield [CheckItem(where="")]
    for path in contents.tables:
        yield [CheckItem(where=path)]


def _work(folder: Path, item: CheckItem) -> _Faults:
    """Write one table again, or everything that is computed from the tables."""
    if item.where:
        fault = _table_fault(folder / item.where, table_form(item.where))
        return [(item.where, fault)] if fault else []
    wrong = "not computed from this data; csbdata card computes it anew"
    return [(name, wrong) for name in differing_files(folder)]


def _table_fault(path: Path, form: TableForm | None) -> str:
    """Return how a table differs from its rows written again; empty if it does not."""
    if form is None:
        return ""
    with pq.ParquetFile(path) as file:
        own, right = (
            dict(zip(columns.names, columns.types, strict=True))
            for columns in (file.schema_arrow, form.columns)
        )
        names = sorted(own.keys() | right.keys())
        if wrong := [name for name in names if own.get(name) != right.get(name)]:
            return f"not the columns of a build: {', '.join(wrong)}"
        if file.schema_arrow.names != form.columns.names:
            return "its columns are not in the order of a build"
        with tempfile.TemporaryDirectory() as name:
            again = Path(name, "again.parquet")
            with parquet_writer(again, form.columns, distinct=form.distinct) as writer:
                for group in range(file.num_row_groups):
                    rows = file.read_row_group(group).cast(form.columns)
                    writer.write_table(rows, row_group_size=max(1, len(rows)))
            if file_digest(again) != file_digest(path):
                return "its bytes are not those that a build writes of its rows"
        if not form.text:
            return ""
        if not _has_groups_of_build(file, form):
            return "its row groups are not those of a build"
        if form is not RECORDS:
            return ""
        ids = file.read(columns=["unique_id"])["unique_id"].to_pylist()
    keys = [natural_key(name or "") for name in ids]
    in_order = all(first <= second for first, second in pairwise(keys))
    return "" if in_order else "its rows are not in natural order of the ids"


def _has_groups_of_build(file: pq.ParquetFile, form: TableForm) -> bool:
    """Return whether the rows stand in the row groups in which a build puts them."""
    groups = range(file.num_row_groups)
    lengths = (
        length or 0
        for group in groups
        for length in pc.utf8_length(
            file.read_row_group(group, columns=[form.text])[form.text]
        ).to_pylist()
    )
    sizes = row_group_sizes(
        lengths, most_length=form.most_length, most_rows=form.most_rows
    )
    return [file.metadata.row_group(group).num_rows for group in groups] == list(sizes)


def _misdivided(contents: FolderContents) -> Iterator[tuple[str, str]]:
    """Yield the tables that end before they are full, or after.

    The last of a split may end before.
    """
    tables = [table for table in contents.tables.values() if table.folder != LEDGER]
    last = {(table.folder, table.split): table.path for table in tables}
    for table in tables:
        groups = len(table.groups)
        is_last = table.path == last[table.folder, table.split]
        early = not is_last and not is_full(table.metadata, groups)
        if early or is_full(table.metadata, groups - 1):
            yield table.path, "its split is not divided into files as a build does it"


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    faults: _Faults = [*_misdivided(contents)]
    unanswered: list[Finding] = []
    for _, wrong in answers(_NAME, results, _Faults, unanswered):
        faults += wrong
    faults += ((finding.where, finding.detail) for finding in unanswered)
    other = contents.other_maker()
    note = f"; {other} made it, which is not here" if other else ""
    findings = [
        Finding(
            check=_NAME,
            where=where,
            detail=detail + note,
            failure=not other,
            not_run=bool(other),
        )
        for where, detail in faults
    ]
    return CheckResult(findings=findings)


DERIVED = FolderCheck(
    name=_NAME,
    question="are tables, card, licences and plots what a build writes of this data?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
