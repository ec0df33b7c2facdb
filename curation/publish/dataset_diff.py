"""What changed between two dataset folders, and how much that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from curation.core.benchmark import in_benchmark_order
from curation.dataset.difference import compare
from curation.dataset.editions import (
    configs_with_instances,
    instance_tables,
    open_edition,
)
from curation.packaging.card import FILE as CARD
from curation.packaging.croissant import FILE as CROISSANT
from curation.packaging.derived_files import CHANGELOG
from curation.publish.release import Level

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.dataset.difference import RecordPair
    from curation.dataset.editions import Edition

_KEY = ("unique_id", "number")
_SAID = ("text", "valid")
#: Facts of a manifest that a release itself sets, or that follow from the files.
_SET = frozenset({"data_version", "released", "configs", "files", "canary"})


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceChanges:
    """What changed among the witnesses and near misses of one config."""

    config: str
    added: int
    #: Gone, or another text or verdict under the same number.
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetDiff:
    """Two editions, and all in which they differ."""

    before: Edition | None
    after: Edition
    pairs: Sequence[RecordPair] = ()
    instances: Sequence[InstanceChanges] = ()
    #: Whether the manifests' facts, or any file's bytes, differ.
    otherwise: bool = True

    @property
    def level(self) -> Level:
        """How much it is."""
        kinds = {kind for pair in self.pairs for kind in pair.kinds}
        if kinds - {"added"} or any(changes.changed for changes in self.instances):
            return Level.MAJOR
        if kinds or any(changes.added for changes in self.instances):
            return Level.MINOR
        return Level.PATCH if self.otherwise else Level.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFolder:
    """One dataset folder and what its manifest says; empty where it has none."""

    folder: Path
    manifest: Mapping[str, Json] = field(default_factory=dict)

    @property
    def version(self) -> Json:
        """The version, which stands in the card and in `croissant.json` too."""
        return self.manifest.get("data_version")

    @property
    def facts(self) -> dict[str, Json]:
        """What decides the content, and is not a matter of the release."""
        return {
            name: value for name, value in self.manifest.items() if name not in _SET
        }

    def files(self, *, but: Collection[str]) -> dict[str, Json]:
        """Return the digests of the files that the manifest lists, some left out."""
        files = self.manifest.get("files")
        if not isinstance(files, dict):
            return {}
        return {name: file for name, file in files.items() if name not in but}


def compare_folders(before: DatasetFolder | None, after: DatasetFolder) -> DatasetDiff:
    """Compare two folders; without the first, everything is new.

    Raises:
        CsbdataError: a folder holds no edition, or a table cannot be read.
    """
    new = open_edition(str(after.folder))
    if before is None:
        return DatasetDiff(before=None, after=new)
    old = open_edition(str(before.folder))
    return DatasetDiff(
        before=old,
        after=new,
        pairs=compare(old, new),
        instances=_instances(before.folder, after.folder),
        otherwise=_differ_otherwise(before, after),
    )


def _differ_otherwise(before: DatasetFolder, after: DatasetFolder) -> bool:
    same_version = before.version == after.version
    but = {CHANGELOG} if same_version else {CHANGELOG, CARD, CROISSANT}
    return (before.facts, before.files(but=but)) != (after.facts, after.files(but=but))


def _instances(before: Path, after: Path) -> list[InstanceChanges]:
    """Return the configs whose instances differ."""
    names = configs_with_instances(before) | configs_with_instances(after)
    found = (
        _compared(
            name,
            _rows(instance_tables(before, name)),
            _rows(instance_tables(after, name)),
        )
        for name in in_benchmark_order(names)
    )
    return [changes for changes in found if changes.added or changes.changed]


def _rows(tables: Sequence[Path]) -> pl.DataFrame:
    columns = (*_KEY, *_SAID)
    if not tables:
        types = (pl.String, pl.Int64, pl.String, pl.Boolean)
        return pl.DataFrame(schema=dict(zip(columns, types, strict=True)))
    return pl.concat(
        [pl.read_parquet(table, columns=list(columns), glob=False) for table in tables]
    )


def _compared(config: str, old: pl.DataFrame, new: pl.DataFrame) -> InstanceChanges:
    added = new.join(old, on=_KEY, how="anti").height
    kept = old.join(new, on=(*_KEY, *_SAID), how="semi").height
    return InstanceChanges(config=config, added=added, changed=old.height - kept)
