"""Compare two dataset folders, and say what kind of version the difference needs.

Versions follow Semantic Versioning. Within a major version every id keeps its schema,
its config and its split, so that scores stay comparable. A minor version adds; a patch
changes metadata of the records. The edition published with the paper counts as 1.0.0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from curation.core.benchmark import in_benchmark_order
from curation.dataset.difference import RecordPair, compare
from curation.dataset.editions import (
    Edition,
    configs_with_instances,
    instance_tables,
    open_edition,
)
from curation.packaging.card import FILE as CARD
from curation.packaging.derived_files import CHANGELOG
from curation.system.user_files import reading_parquet

if TYPE_CHECKING:
    from curation.packaging.manifest import Manifest

_VERSION = re.compile(r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})")


class Level(IntEnum):
    """The size of a change, ordered."""

    NONE = 0
    """Nothing that a reader could notice."""
    PATCH = 1
    """What is said of the records, or of the whole."""
    MINOR = 2
    """Records or instances were added."""
    MAJOR = 3
    """Ids, schemas, configs or splits changed, or went."""


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A released version."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Version | None:
        """Parse `2.1.0` or `v2.1.0`; None for anything else."""
        match = _VERSION.fullmatch(text.removeprefix("v"))
        return cls(*map(int, match.groups())) if match else None

    def next(self, level: Level) -> Version:
        """Return the version that follows a change of that level."""
        if level is Level.MAJOR:
            return Version(self.major + 1, 0, 0)
        if level is Level.MINOR:
            return Version(self.major, self.minor + 1, 0)
        if level is Level.PATCH:
            return Version(self.major, self.minor, self.patch + 1)
        return self

    def __str__(self) -> str:
        """Return it as `2.1.0`."""
        return f"{self.major}.{self.minor}.{self.patch}"


#: The edition published with the paper.
PUBLISHED = Version(1, 0, 0)

_KEY = ("unique_id", "number")
_SAID = ("text", "valid")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceChanges:
    """Changes to the instances of one config."""

    config: str
    added: int
    #: Gone, or another text or verdict under the same number.
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetDiff:
    """Two editions and their differences."""

    before: Edition | None
    after: Edition
    pairs: Sequence[RecordPair] = ()
    instances: Sequence[InstanceChanges] = ()
    #: Whether the manifests' facts, or any file's bytes, differ.
    otherwise: bool = True

    @property
    def level(self) -> Level:
        """The size of the change."""
        kinds = {kind for pair in self.pairs for kind in pair.kinds}
        if kinds - {"added"} or any(changes.changed for changes in self.instances):
            return Level.MAJOR
        if kinds or any(changes.added for changes in self.instances):
            return Level.MINOR
        return Level.PATCH if self.otherwise else Level.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFolder:
    """A dataset folder and its manifest; the published edition has none."""

    folder: Path
    manifest: Manifest | None = None


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
    """Return whether the manifests' facts, or any file's digest, differ."""
    old, new = before.manifest, after.manifest
    if old is None or new is None:
        return old is not new
    # The card states the version.
    same = old.data_version == new.data_version
    ignored = {CHANGELOG} if same else {CHANGELOG, CARD}
    return _content(old, ignored) != _content(new, ignored)


def _content(manifest: Manifest, ignored: Collection[str]) -> Manifest:
    """Return a manifest without the facts of its release, and without some files."""
    files = {name: file for name, file in manifest.files.items() if name not in ignored}
    return msgspec.structs.replace(
        manifest,
        files=files,
        configs={},
        data_version="",
        canary="",
        released=msgspec.UNSET,
    )


def _instances(before: Path, after: Path) -> list[InstanceChanges]:
    """Return the configs whose instances differ."""
    names = configs_with_instances(before) | configs_with_instances(after)
    differing = (
        _compared(
            name,
            _rows(instance_tables(before, name)),
            _rows(instance_tables(after, name)),
        )
        for name in in_benchmark_order(names)
    )
    return [changes for changes in differing if changes.added or changes.changed]


def _rows(tables: Sequence[Path]) -> pl.DataFrame:
    columns = (*_KEY, *_SAID)
    if not tables:
        types = (pl.String, pl.Int64, pl.String, pl.Boolean)
        return pl.DataFrame(schema=dict(zip(columns, types, strict=True)))
    with reading_parquet(tables[0].parent):
        return pl.concat(
            [
                pl.read_parquet(each, columns=list(columns), glob=False)
                for each in tables
            ]
        )


def _compared(config: str, old: pl.DataFrame, new: pl.DataFrame) -> InstanceChanges:
    added = new.join(old, on=_KEY, how="anti").height
    same = old.join(new, on=(*_KEY, *_SAID), how="semi").height
    return InstanceChanges(config=config, added=added, changed=old.height - same)
