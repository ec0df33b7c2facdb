"""Reading a build's ledger: by column, or all that is said of one document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from curation.core.benchmark import in_benchmark_order
from curation.core.documents import ABSENT, KEPT, Change
from curation.dataset.ledger import CHANGES, DOCUMENTS, LedgerRow
from curation.system.errors import NoInput

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.documents import Reason


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
        documents = self.documents().filter(**wanted).collect()
        rows = documents.drop("document").to_dicts()
        changes: dict[int, list[Change]] = {
            number: [] for number in documents["document"].to_list()
        }
        chosen = pl.col("document").is_in(list(changes))
        edits = self.changes().filter(chosen).collect()
        for number, edit in zip(
            edits["document"].to_list(),
            edits.drop("document").fill_null(ABSENT).to_dicts(),
            strict=True,
        ):
            changes[number].append(msgspec.convert(edit, Change))
        return [
            msgspec.convert({**row, "changes": own}, LedgerRow)
            for row, own in zip(rows, changes.values(), strict=True)
        ]

    def rejected(
        self, *, reason: Reason | None = None, config: str | None = None
    ) -> pl.DataFrame:
        """Return the rejected documents, in the order of reading.

        Args:
            reason: Only those with this reason.
            config: Only those of this config.

        Returns:
            The columns `config`, `unique_id`, `reason`, `rule`, `detail`, `path`.

        Raises:
            NoInput: the build has no such config.
        """
        documents = self.documents()
        if config is not None:
            known = documents.select("config").unique().collect()["config"].to_list()
            if config not in known:
                then = f"there are {', '.join(in_benchmark_order(known))}"
                raise NoInput(f"no config {config}", str(self.folder), then)
            documents = documents.filter(config=config)
        wanted = pl.col("outcome") != KEPT
        if reason is not None:
            wanted = pl.col("outcome") == reason.value
        columns = ("config", "unique_id", "reason", "rule", "detail", "path")
        named = documents.filter(wanted).rename({"outcome": "reason"})
        return named.select(columns).collect()


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
