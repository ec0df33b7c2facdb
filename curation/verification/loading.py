"""Open every config and split with `datasets`, offline, and count its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.core.benchmark import DEFAULT, LEDGER
from curation.packaging.card import FILE as CARD
from curation.packaging.table_columns import table_form
from curation.system.escaping import shortened
from curation.system.extras import install_extra
from curation.system.words import counted
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    ItemResult,
)
from curation.verification.findings import Finding

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents

_NAME = "loading"
_SHOWN = 300


class OpenedConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One config, opened with `datasets`."""

    #: Split to its rows.
    rows: dict[str, int] = {}
    #: Whether `datasets` is installed.
    installed: bool = True


class CardFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one split in the card's `configs`."""

    split: str
    path: str | list[str]


class CardConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One config in the card's `configs`."""

    #: YAML reads an unquoted name of digits as a number.
    config_name: str | int
    data_files: list[CardFiles]


def _announced(contents: FolderContents) -> dict[str, dict[str, list[str]]] | None:
    """Return the files of each config and split that the card announces.

    None if `datasets` cannot read what the card says.
    """
    metadata = contents.metadata.get("configs") or []
    try:
        configs = msgspec.convert(metadata, list[CardConfig])
    except msgspec.ValidationError:
        return None
    announced: dict[str, dict[str, list[str]]] = {}
    for config in configs:
        splits = announced.setdefault(str(config.config_name), {})
        for files in config.data_files:
            path = files.path
            splits[files.split] = [path] if isinstance(path, str) else path
    return announced


def _broken(contents: FolderContents, files: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the files of a config that are not there or do not open."""
    return [
        path
        for paths in files.values()
        for path in paths
        if not contents.is_sound(path)
    ]


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    configs = _announced(contents) or {}
    items = [
        CheckItem(where=name)
        for name, files in configs.items()
        if not _broken(contents, files)
    ]
    if items:
        # One batch, so that one child has to import `datasets`.
        yield items


def _work(folder: Path, item: CheckItem) -> OpenedConfig:
    """Open one config as a user would."""
    try:
        import datasets  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        return OpenedConfig(installed=False)
    datasets.disable_progress_bars()
    loaded = datasets.load_dataset(str(folder.resolve()), item.where)
    return OpenedConfig(rows={split: loaded[split].num_rows for split in loaded})


def _rows(contents: FolderContents, files: Sequence[str]) -> int:
    return sum(contents.tables[path].rows for path in files if path in contents.tables)


def _finding(where: str, detail: str) -> Finding:
    return Finding(check=_NAME, where=where, detail=shortened(detail, _SHOWN))


def _unopened(
    contents: FolderContents, configs: Mapping[str, Mapping[str, Sequence[str]]]
) -> Iterator[Finding]:
    """Yield the reasons why a config was not opened."""
    for config, files in configs.items():
        for path in _broken(contents, files):
            yield _finding(config, f"cannot be opened without {path}")
    with_rows = {table.folder for table in contents.records() if table.rows}
    for config in sorted(with_rows - configs.keys() - {DEFAULT}):
        if contents.metadata:
            yield _finding(config, f"not announced in {CARD}")


def _columns(contents: FolderContents) -> Iterator[Finding]:
    """Yield the tables whose columns are not those that a build writes."""
    for table in contents.tables.values():
        form = table_form(table.path)
        if form is None or table.folder == LEDGER:
            continue
        right, own = form.columns, table.metadata.schema.to_arrow_schema()
        wrong = [
            name
            for name in dict.fromkeys([*right.names, *own.names])
            if name not in own.names
            or name not in right.names
            or own.field(name).type != right.field(name).type
        ]
        if wrong:
            names = ", ".join(wrong)
            yield _finding(table.path, f"not the columns of a build: {names}")


def _miscounted(
    contents: FolderContents,
    config: str,
    files: Mapping[str, Sequence[str]],
    opened: Mapping[str, int],
) -> Iterator[Finding]:
    for split, paths in files.items():
        rows, right = opened.get(split), _rows(contents, paths)
        if rows != right:
            yield _finding(
                f"{config}/{split}", f"opens with {rows} of {counted(right, 'row')}"
            )


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    findings: list[Finding] = []
    configs = _announced(contents)
    if configs is None:
        findings.append(
            _finding(CARD, "its `configs` are not as `datasets` reads them")
        )
        configs = {}
    opened = {
        result.item.where: result.answer_as(OpenedConfig)
        for result in results
        if result.answered
    }
    if not all(config.installed for config in opened.values()):
        detail = f"datasets is not installed: {install_extra('load')}"
        findings.append(
            Finding(check=_NAME, where="", detail=detail, failure=False, not_run=True)
        )
    findings += _unopened(contents, configs)
    findings += _columns(contents)
    counted: Counter[str] = Counter()
    for result in results:
        config = result.item.where
        if not result.answered:
            findings.append(_finding(config, f"does not open: {result.detail}"))
        elif opened[config].installed:
            rows = opened[config].rows
            counted["configs opened"] += 1
            counted["splits opened"] += len(rows)
            findings += _miscounted(contents, config, configs[config], rows)
    return CheckResult(findings=findings, counted=counted)


LOADING = FolderCheck(
    name=_NAME,
    question="does every config and split open with `datasets`, without a network?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
