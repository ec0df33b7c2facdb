"""Does every config and split open with `datasets`, offline, with all its rows?"""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import cache
from glob import has_magic
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import msgspec
import pyarrow.parquet as pq

from curation.core.benchmark import (
    DEFAULT,
    LEDGER,
    OTHER_TABLE,
    holds_instances,
)
from curation.dataset.parquet import COLUMNS as RECORDS
from curation.instances.dataset.parquet import COLUMNS as INSTANCES
from curation.packaging.card import FILE as CARD
from curation.system.escaping import shortened
from curation.system.extras import install_extra
from curation.verification.core.check import CheckResult, CheckUnit, FolderCheck
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.verification.core.check import CheckBatch, UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "loading"
_SHOWN = 300


class OpenedConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What came of opening one config with `datasets`."""

    #: Split to its rows.
    rows: dict[str, int] = {}
    #: Whether `datasets` is there to open it with.
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

    None where the card says it in another way than `datasets` reads.
    """
    listed = contents.metadata.get("configs") or []
    try:
        configs = msgspec.convert(listed, list[CardConfig])
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


def _of_instances(contents: FolderContents) -> dict[str, dict[str, list[str]]]:
    """Return the files of each folder of instances, by split; no card names them."""
    found: dict[str, dict[str, list[str]]] = {}
    for table in contents.tables.values():
        if holds_instances(table.folder) and table.rows:
            splits = found.setdefault(table.folder, {})
            splits.setdefault(table.split, []).append(table.path)
    return found


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    configs = _announced(contents) or {}
    units = [
        CheckUnit(where=name)
        for name, files in {**configs, **_of_instances(contents)}.items()
        if not _broken(contents, files)
    ]
    if units:
        # One batch, so that one child has to import `datasets`.
        yield units


@cache
def _without_magic(folder: Path) -> Path:
    """Return the folder, or a copy where `datasets` takes its path for a pattern.

    `run_units` removes the child's temporary files.
    """
    place = folder.resolve()
    if not has_magic(str(place)):
        return place
    return copytree(place, Path(tempfile.mkdtemp()) / "copy")


def _work(folder: Path, unit: CheckUnit) -> OpenedConfig:
    """Open one config as a user would."""
    try:
        import datasets  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        return OpenedConfig(installed=False)
    datasets.disable_progress_bars()
    place = _without_magic(folder)
    if holds_instances(unit.where):
        files = sorted((place / unit.where).glob(f"*{OTHER_TABLE}"))
        # `datasets` cannot open a split without rows.
        named: dict[str, list[str]] = {}
        for path in files:
            if pq.read_metadata(path).num_rows:
                named.setdefault(path.name.partition("-")[0], []).append(str(path))
        loaded = datasets.load_dataset("parquet", data_files=named)
    else:
        loaded = datasets.load_dataset(str(place), unit.where)
    return OpenedConfig(rows={split: loaded[split].num_rows for split in loaded})


def _rows(contents: FolderContents, files: Sequence[str]) -> int:
    return sum(contents.tables[path].rows for path in files if path in contents.tables)


def _finding(where: str, detail: str) -> Finding:
    return Finding(check=_NAME, where=where, detail=shortened(detail, _SHOWN))


def _unopened(
    contents: FolderContents, configs: Mapping[str, Mapping[str, Sequence[str]]]
) -> Iterator[Finding]:
    """Yield why a config was not even tried."""
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
        if table.folder == LEDGER:
            continue
        wanted = INSTANCES if holds_instances(table.folder) else RECORDS
        given = table.metadata.schema.to_arrow_schema().remove_metadata()
        other = [
            name
            for name in dict.fromkeys([*wanted.names, *given.names])
            if name not in given.names
            or name not in wanted.names
            or given.field(name).type != wanted.field(name).type
        ]
        if other:
            names = ", ".join(other)
            yield _finding(table.path, f"not the columns of a build: {names}")


def _miscounted(
    contents: FolderContents,
    config: str,
    files: Mapping[str, Sequence[str]],
    opened: Mapping[str, int],
) -> Iterator[Finding]:
    for split, paths in files.items():
        given, wanted = opened.get(split), _rows(contents, paths)
        if given != wanted:
            yield _finding(
                f"{config}/{split}", f"opens with {given} rows, not {wanted:,}"
            )


def _judge(contents: FolderContents, results: Sequence[UnitResult]) -> CheckResult:
    findings: list[Finding] = []
    configs = _announced(contents)
    if configs is None:
        findings.append(
            _finding(CARD, "its `configs` are not as `datasets` reads them")
        )
        configs = {}
    opened = {
        result.unit.where: result.answer_as(OpenedConfig)
        for result in results
        if result.answered
    }
    if not all(config.installed for config in opened.values()):
        detail = f"datasets is not installed: {install_extra('load')}"
        findings.append(_finding("", detail))
    findings += _unopened(contents, configs)
    findings += _columns(contents)
    counted: Counter[str] = Counter()
    files = {**configs, **_of_instances(contents)}
    for result in results:
        config = result.unit.where
        if not result.answered:
            findings.append(_finding(config, f"does not open: {result.detail}"))
        elif opened[config].installed:
            rows = opened[config].rows
            counted["configs opened"] += 1
            counted["splits opened"] += len(rows)
            findings += _miscounted(contents, config, files[config], rows)
    return CheckResult(findings=findings, counted=counted)


LOADING = FolderCheck(
    name=_NAME,
    question="does every config and split open with `datasets`, without a network?",
    judge=_judge,
    batches=_batches,
    work=_work,
)
