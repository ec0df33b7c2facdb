"""Look up one raw document in a build's ledger and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import polars as pl

from curation.core.documents import KEPT, Reason
from curation.core.json_types import Json
from curation.core.records import BenchmarkRecord
from curation.dataset.ledger import LedgerRow, open_ledger
from curation.system.errors import NoInput, other_version
from curation.system.registry import closest_names

_SUGGESTIONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentStory:
    """One raw document: its ledger entry, and its row if it was kept."""

    entry: LedgerRow
    #: The record's columns by name; None if the document was rejected.
    record: Mapping[str, Json] | None

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
            near = ", ".join(closest_ids(name, ids["unique_id"].to_list()))
            then = f"did you mean {near}?" if near else "csbdata stats lists configs"
            raise NoInput(f"no document is named {name!r}", str(folder), then)
        return [_story(folder, entry) for entry in entries]
    except (pl.exceptions.PolarsError, msgspec.ValidationError) as error:
        raise other_version(error, folder) from error


def _story(folder: Path, entry: LedgerRow) -> DocumentStory:
    if entry.outcome != KEPT:
        return DocumentStory(entry=entry, record=None)
    files = sorted((folder / entry.config).glob(f"{entry.split}-*.parquet"))
    # The folder's own name may look like a pattern.
    tables = pl.scan_parquet(files, glob=False)
    rows = tables.filter(unique_id=entry.unique_id).collect().to_dicts()
    msgspec.convert(rows, list[BenchmarkRecord])
    return DocumentStory(entry=entry, record=next(iter(rows), None))


def closest_ids(name: str, ids: Sequence[str]) -> list[str]:
    """Return the ids most like a name, best first.

    Case, a leading path and a trailing `.json` make no difference.
    """
    bare = name.rpartition("/")[2].lower().removesuffix(".json")
    by_lower: dict[str, str] = {}
    for known_id in sorted(ids):
        by_lower.setdefault(known_id.lower(), known_id)
    if bare in by_lower:
        return [by_lower[bare]]
    near = closest_names(bare, by_lower, most=_SUGGESTIONS)
    return [by_lower[lower] for lower in near]
