"""A small build folder made for tests of the commands that look."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from curation.core.benchmark import SPLITS, natural_key
from curation.core.documents import KEPT, Reason
from curation.dataset.ledger import write_ledger
from curation.dataset.parquet import RECORDS, SplitFiles, split_files
from curation.packaging.manifest import whole_manifest, write_manifest
from tests.made import (
    ADDED,
    change,
    count_entries,
    entry,
    facts,
    record,
    rejected,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from curation.core.records import BenchmarkRecord
    from curation.dataset.ledger import LedgerRow

#: Config and record of everything kept.
KEPT_ROWS = [
    ("Github_easy", record("o13947", dialect="draft-07", changes=("pattern",))),
    ("Github_easy", record("shared")),
    ("Snowplow", record("sp_\x1b[31m\u202e", json_schema='{"type": "string"}')),
    ("Kubernetes", record("shared", features=("enum", "type"), size=9_000)),
]
CHANGES = (
    change(note="an unescaped bracket"),
    ADDED,
    change(before='"\\u001b[2J[bold]"', after='"x"', pointer="/a\x1b[2J"),
)
REJECTED = [
    rejected(
        "o7",
        "Github_easy",
        Reason.TEMPLATE,
        rule="pattern",
        detail="the key '${\x1b]0;x\x07}'",
    ),
    rejected("o8", "Github_easy", Reason.DUPLICATE, detail="Github_easy/o13947"),
]


def write_config(
    folder: Path, config: str, splits: Mapping[str, Iterable[BenchmarkRecord]]
) -> tuple[str, ...]:
    """Write the files of a config, records in any order; return their paths."""
    (folder / config).mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        records = splits.get(split, ())
        with SplitFiles(folder, config, split, RECORDS) as files:
            for record in sorted(
                records, key=lambda record: natural_key(record.unique_id)
            ):
                files.add(record)
    return tuple(
        name for split in SPLITS for name in split_files(folder, config, split)
    )


def write_build(
    folder: Path,
    rows: Iterable[tuple[str, BenchmarkRecord]] = tuple(KEPT_ROWS),
    gone: Iterable[LedgerRow] = tuple(REJECTED),
) -> Path:
    """Write a whole build folder of these records; returns it."""
    entries = [
        entry(each, config, changes=CHANGES if each.changes else ())
        for config, each in rows
    ]
    splits: defaultdict[str, defaultdict[str, list[BenchmarkRecord]]]
    splits = defaultdict(lambda: defaultdict(list))
    for (config, each), kept in zip(rows, entries, strict=True):
        assert kept.outcome == KEPT
        splits[config][kept.split].append(each)
    for config, records in splits.items():
        write_config(folder, config, records)
    entries += gone
    write_ledger(entries, folder)
    write_manifest(whole_manifest(facts(), count_entries(entries)), folder)
    return folder
