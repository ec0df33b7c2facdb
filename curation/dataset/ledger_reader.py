"""Reading a build's ledger: by column, or one document's whole story."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from curation.core.documents import ABSENT, Change, Origin
from curation.dataset.ledger import CHANGES, DOCUMENTS, LedgerRow
from curation.system.errors import NoInput

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Ledger:
    """The two tables of one build folder, to be read by column or by document."""

    folder: Path

    def documents(self) -> pl.LazyFrame:
        """Return the table of documents, one row each, in the order of reading."""
        return pl.scan_parquet(self.folder / DOCUMENTS, glob=False)

    def changes(self) -> pl.LazyFrame:
        """Return the table of changes, in the order in which they were made."""
        return pl.scan_parquet(self.folder / CHANGES, glob=False)

    def entries(self, **wanted: str) -> list[LedgerRow]:
        """Return the entries whose columns equal the values, with their changes.

        `ledger.entries(unique_id="o13947")` gives one entry for each document of
        that id.
        """
        rows = self.documents().filter(**wanted).collect().to_dicts()
        edits: dict[int, list[Change]] = {row.pop("document"): [] for row in rows}
        for change in self._changes_of(list(edits)):
            edits[change.pop("document")].append(_change(change))
        return [
            LedgerRow(
                **{
                    **row,
                    "origin": Origin(row["origin"]),
                    "changes": tuple(edits[number]),
                }
            )
            for number, row in zip(edits, rows, strict=True)
        ]

    def _changes_of(self, positions: list[int]) -> list[dict[str, Any]]:
        chosen = pl.col("document").is_in(positions)
        return self.changes().filter(chosen).collect().to_dicts()


def _change(row: dict[str, Any]) -> Change:
    texts = {name: ABSENT if value is None else value for name, value in row.items()}
    return Change(**texts)


def open_ledger(folder: Path) -> Ledger:
    """Return the ledger of a build folder.

    Raises:
        NoInput: the folder holds no ledger.
    """
    for name in (DOCUMENTS, CHANGES):
        if not (folder / name).is_file():
            raise NoInput(
                f"no ledger here ({name})", str(folder), "csbdata build writes one"
            )
    return Ledger(folder)
