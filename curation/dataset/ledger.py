"""Write and read the ledger: every raw document with its outcome, every edit.

`ledger/documents.parquet` has one row for each raw document, and
`ledger/changes.parquet` one for each edit of a rule, with the values before and after.
A change points to its document by the document's row number. Without a change the
second table is not there: `datasets` opens none without rows. `stories` looks up one
document in them and in a build's rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import msgspec
import polars as pl
import pyarrow as pa

from curation.core.documents import ABSENT, KEPT, Change, Origin, Reason
from curation.core.json_types import UntypedJson
from curation.core.records import BenchmarkRecord
from curation.dataset.parquet import (
    TableForm,
    make_columns,
    parquet_writer,
    read_required,
    refuse_columns,
    table_of_columns,
)
from curation.system.errors import NoInput, other_version
from curation.system.registry import closest_names
from curation.workers.pool import in_batches

#: Paths inside a build folder.
DOCUMENTS = "ledger/documents.parquet"
CHANGES = "ledger/changes.parquet"
# Rows, and characters of change text, held in memory before they are written.
_BATCH_ROWS = 4_096
_BATCH_LENGTH = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """One raw document with its outcome."""

    #: The config it was read for: `Github` where the subset comes later.
    raw_config: str
    #: The config it ended in, or would have; `raw_config` where it is not known.
    config: str
    unique_id: str
    source: str
    path: str
    commit: str
    licence: str
    #: These as the columns of a record.
    collection_licence: str = "NOASSERTION"
    original_repository: str | None = None
    original_path: str | None = None
    original_revision: str | None = None
    origin: Origin
    #: sha256 of the bytes as read.
    raw_sha256: str
    #: `kept`, or the value of a `Reason`.
    outcome: str
    #: The rule that rejected it; empty where reading or the whole benchmark did.
    rule: str = ""
    #: Details; for a duplicate, `config/unique_id` of the first.
    detail: str = ""
    #: sha256 of the canonical form; empty where it is not known.
    sha256: str = ""
    #: Empty unless kept.
    split: str = ""
    #: Bytes of the raw file's JSON text, as `size` of a record; like the next ones
    #: null where the figures of the raw file were not taken.
    raw_size: int | None = None
    #: Field count of the raw file.
    raw_field_count: int | None = None
    #: Largest fan-out of the raw file.
    raw_fan_out: int | None = None
    #: Depth of the raw file.
    raw_depth: int | None = None
    #: The draft named in the raw file's `$schema`, or `unknown`.
    raw_draft: str | None = None
    changes: tuple[Change, ...] = ()


_POSITION = pa.field("document", pa.int64())
#: Columns of the table of documents.
DOCUMENT_COLUMNS = pa.schema(
    [_POSITION, *make_columns(LedgerRow, without=frozenset({"changes"}))]
)
#: Columns of the table of changes; null in `before` or `after` is "nothing there".
CHANGE_COLUMNS = pa.schema([_POSITION, *make_columns(Change)])
#: Columns of either that rarely repeat a value.
_DISTINCT = frozenset(
    {"document", "unique_id", "path", "raw_sha256", "sha256", "before", "after"}
)
#: The form of each table.
FORMS = {
    DOCUMENTS: TableForm(
        columns=DOCUMENT_COLUMNS, distinct=_DISTINCT, required=read_required(LedgerRow)
    ),
    CHANGES: TableForm(
        columns=CHANGE_COLUMNS,
        distinct=_DISTINCT,
        required=read_required(Change) - {"before", "after"},
    ),
}


def _table(
    columns: pa.Schema, rows: Sequence[tuple[int, LedgerRow | Change]]
) -> pa.Table:
    entries = [row for _, row in rows]
    values: dict[str, list[UntypedJson]] = {
        name: list(map(attrgetter(name), entries)) for name in columns.names[1:]
    }
    for name in values.keys() & {"before", "after"}:
        values[name] = [None if value == ABSENT else value for value in values[name]]
    values["document"] = [position for position, _ in rows]
    try:
        return table_of_columns(values, columns)
    except UnicodeEncodeError:
        # A path in an archive can hold bytes that are not UTF-8 (PEP 383).
        for name, kind in zip(columns.names, columns.types, strict=True):
            if kind == pa.string():
                values[name] = [
                    text and text.encode("utf-8", "backslashreplace").decode()
                    for text in values[name]
                ]
        return table_of_columns(values, columns)


def write_ledger(entries: Iterable[LedgerRow], folder: Path) -> None:
    """Write both tables, in order.

    The entries may be an iterator; some thousands are in memory at a time.

    Raises:
        OSError: a file cannot be written.
    """
    (folder / DOCUMENTS).parent.mkdir(parents=True, exist_ok=True)
    documents, changes = (
        parquet_writer(folder / path, form.columns, distinct=form.distinct)
        for path, form in FORMS.items()
    )
    changed = False
    with documents, changes:
        for batch in in_batches(
            enumerate(entries),
            lambda row: sum(len(edit.before + edit.after) for edit in row[1].changes),
            most=_BATCH_ROWS,
            heaviest=_BATCH_LENGTH,
        ):
            documents.write_table(_table(DOCUMENT_COLUMNS, batch))
            edits = [
                (position, change)
                for position, entry in batch
                for change in entry.changes
            ]
            if edits:
                changed = True
                changes.write_table(_table(CHANGE_COLUMNS, edits))
    if not changed:
        (folder / CHANGES).unlink()


@dataclass(frozen=True, slots=True)
class Ledger:
    """The two tables of a build, read by column or by document."""

    folder: Path

    def documents(self) -> pl.LazyFrame:
        """Return the table of documents, one row each, in the order of reading."""
        return pl.scan_parquet(self.folder / DOCUMENTS, glob=False)

    def changes(self) -> pl.LazyFrame:
        """Return the table of changes, in the order in which they were made."""
        if not (self.folder / CHANGES).is_file():
            return pl.LazyFrame(schema=pl.Schema(CHANGE_COLUMNS))
        return pl.scan_parquet(self.folder / CHANGES, glob=False)

    def entries(self, **values: str) -> list[LedgerRow]:
        """Return the entries whose columns equal the values, with their changes.

        `ledger.entries(unique_id="o13947")` gives one entry for each document of
        that id.
        """
        documents = self.documents().filter(**values).collect()
        numbers = documents.lazy().select("document")
        edits = self.changes().join(numbers, "document", "semi", maintain_order="left")
        changes: defaultdict[int, list[dict[str, UntypedJson]]] = defaultdict(list)
        for edit in edits.collect().fill_null(ABSENT).to_dicts():
            changes[edit["document"]].append(edit)
        return [
            msgspec.convert({**row, "changes": changes[row["document"]]}, LedgerRow)
            for row in documents.to_dicts()
        ]

    def rejected(self, reason: Reason) -> pl.DataFrame:
        """Return the documents rejected for a reason, in the order of reading.

        Returns:
            The columns `config`, `unique_id`, `reason`, `rule`, `detail`, `path`.

        Raises:
            BadData: the table has other columns.
        """
        columns = ("config", "unique_id", "reason", "rule", "detail", "path")
        named = self.documents().filter(outcome=reason.value)
        try:
            return named.rename({"outcome": "reason"}).select(columns).collect()
        except pl.exceptions.PolarsError as error:
            raise other_version(error, self.folder / DOCUMENTS) from error


def open_ledger(folder: Path) -> Ledger:
    """Return the ledger of a build folder.

    Raises:
        NoInput: the folder holds no ledger.
        BadData: one is damaged, lacks a value, or has other columns than this
            version's.
    """
    if not (folder / DOCUMENTS).is_file():
        raise NoInput(
            f"no ledger here ({DOCUMENTS})", str(folder), "csbdata build writes one"
        )
    for name, form in FORMS.items():
        if (folder / name).is_file():
            refuse_columns(folder / name, form)
    return Ledger(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentStory:
    """One raw document: its ledger entry, and its row if it was kept."""

    entry: LedgerRow
    #: None if the document was rejected.
    record: BenchmarkRecord | None

    @property
    def kept(self) -> bool:
        """Whether the document is in the benchmark."""
        return self.entry.outcome == KEPT

    @property
    def explanation(self) -> str:
        """The sentence of the rejection's reason; empty for a kept document."""
        outcome = self.entry.outcome
        return next((reason.explanation for reason in Reason if reason == outcome), "")


def stories(folder: Path, name: str) -> list[DocumentStory]:
    """Return the story of every document of an id, in the order of reading.

    `name` is an id, or `config/id`.

    Raises:
        NoInput: the build knows no such id (the nearest are named), or the folder
            is not a build.
        BadData: a table of the build cannot be read, or has other columns.
    """
    ledger = open_ledger(folder)
    try:
        entries = ledger.entries(unique_id=name)
        config, slash, unique_id = name.partition("/")
        if not entries and slash:
            entries = ledger.entries(unique_id=unique_id, config=config)
        if not entries:
            ids = ledger.documents().select("unique_id").unique().collect()
            near = ", ".join(closest_ids(name, ids["unique_id"]))
            hint = f"did you mean {near}?" if near else "csbdata stats lists configs"
            raise NoInput(f"no document is named {name!r}", str(folder), hint)
        stories = []
        for entry in entries:
            record = None
            if entry.outcome == KEPT:
                files = sorted((folder / entry.config).glob(f"{entry.split}-*.parquet"))
                # The folder's own name may look like a pattern.
                rows = pl.scan_parquet(files, glob=False)
                row = rows.filter(unique_id=entry.unique_id).collect().to_dicts()
                record = msgspec.convert(row, list[BenchmarkRecord])[0]
            stories.append(DocumentStory(entry=entry, record=record))
    except (pl.exceptions.PolarsError, msgspec.ValidationError) as error:
        raise other_version(error, folder) from error
    return stories


def closest_ids(name: str, ids: pl.Series) -> list[str]:
    """Return the ids most like a name, without its folder and `.json`."""
    return closest_names(name.rpartition("/")[2].removesuffix(".json"), ids.sort())
