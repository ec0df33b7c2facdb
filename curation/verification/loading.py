"""Open the tables of every config with `datasets`, offline, and count their rows.

The card's own list of them is compared byte for byte by `curation.verification.derived`
and never obeyed: it may name any file, or an address.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow.parquet as pq

from curation.core.benchmark import SPLITS
from curation.dataset.parquet import split_files
from curation.system.extras import install_extra
from curation.system.words import counted
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

_NAME = "loading"


class OpenedConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One config, opened with `datasets`."""

    #: Split to its rows.
    rows: dict[str, int] = {}
    #: Whether `datasets` is installed.
    installed: bool = True


def _rows(contents: FolderContents) -> Counter[tuple[str, str]]:
    """Return the rows of each config and split that has any."""
    rows: Counter[tuple[str, str]] = Counter()
    for table in contents.records():
        rows[table.folder, table.split] += table.rows
    return +rows


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    items = [
        CheckItem(where=config)
        for config in dict.fromkeys(config for config, _ in _rows(contents))
    ]
    if items:
        # One batch, so that one child has to import `datasets`.
        yield items


def _work(folder: Path, item: CheckItem) -> OpenedConfig:
    """Open the tables of one config."""
    try:
        import datasets  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        return OpenedConfig(installed=False)
    datasets.disable_progress_bars()
    files = {
        split: [
            str(folder.resolve() / path)
            for path in split_files(folder, item.where, split)
            if pq.read_metadata(folder / path).num_rows
        ]
        for split in SPLITS
    }
    by_split = {split: paths for split, paths in files.items() if paths}
    loaded = datasets.load_dataset("parquet", data_files=by_split)
    return OpenedConfig(rows={split: loaded[split].num_rows for split in loaded})


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    findings: list[Finding] = []
    rows = _rows(contents)
    opened: Counter[str] = Counter()
    for item, answer in answers(_NAME, results, OpenedConfig, findings):
        if not answer.installed:
            what = f"datasets is not installed: {install_extra('load')}"
            findings.append(
                Finding(check=_NAME, where="", detail=what, failure=False, not_run=True)
            )
            break
        opened["configs opened"] += 1
        opened["splits opened"] += len(answer.rows)
        for (config, split), number in rows.items():
            opened_rows = answer.rows.get(split)
            if config == item.where and opened_rows != number:
                detail = f"opens with {opened_rows} of {counted(number, 'row')}"
                where = f"{config}/{split}"
                findings.append(Finding(check=_NAME, where=where, detail=detail))
    return CheckResult(findings=findings, counted=opened)


LOADING = FolderCheck(
    name=_NAME,
    question="does `datasets` open every config and split, without a network?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
