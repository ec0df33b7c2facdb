"""Release a folder: compute its next version and changelog, and write both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from curation.core.benchmark import MAJOR, canary, is_table
from curation.core.hub_names import dataset_name
from curation.packaging.derived_files import rebuild
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import read_facts, read_manifest
from curation.publish.changelog import FILE, changelog
from curation.publish.dataset_diff import (
    PUBLISHED,
    DatasetDiff,
    DatasetFolder,
    Level,
    Version,
    compare_folders,
)
from curation.system.atomic_files import atomic_write_bytes, writing
from curation.system.errors import BadConfiguration, BadData, NoInput
from curation.system.user_files import read_utf8

#: The month behind the version in a heading of a changelog.
_LABEL = re.compile(r"(?<=\d) \(\d{4}-\d{2}\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRelease:
    """The last release."""

    dataset: DatasetFolder
    version: Version
    #: Its changelog; empty where it has none.
    changelog: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The next release of a folder, before it is written."""

    folder: Path
    #: None: nothing was released before.
    previous: Version | None
    version: Version
    #: How it differs from what was released last.
    diff: DatasetDiff
    changelog: str
    #: The day, `YYYY-MM-DD`; empty if it is not told.
    released: str = ""

    @property
    def level(self) -> Level:
        """The size of the change."""
        return self.diff.level


def next_release(
    folder: Path,
    last: LastRelease | None,
    *,
    allow_partial: bool = False,
    released: str = "",
) -> Release:
    """Compare a folder with the last release; nothing is changed.

    Args:
        folder: A build.
        last: The last release; None for none.
        allow_partial: Whether a partial build may be released.
        released: The day of the release, `YYYY-MM-DD`, or empty. Its month is the
            release's label in the changelog; the version does not depend on it.

    Raises:
        NoInput: the folder is no build.
        BadData: it is partial, and that was not allowed.
        BadConfiguration: the change needs another major version than the one that
            the folder was built for, or a first release would replace the changelog
            of earlier ones (exit 78).
    """
    manifest = read_manifest(folder)
    if manifest.partial and not allow_partial:
        raise BadData(
            "the build is partial: a version stands for the whole benchmark",
            str(folder),
            "build all of it, or say --allow-partial",
        )
    before = last.dataset if last else None
    previous = last.version if last else None
    diff = compare_folders(before, DatasetFolder(folder=folder, manifest=manifest))
    version = _version(previous, diff.level)
    if version.major != MAJOR or manifest.canary != canary(version.major):
        raise BadConfiguration(
            f"this is version {version}, but the folder was built for another major "
            "version",
            str(folder),
            f"make MAJOR {version.major} in curation/core/benchmark.py; build again",
        )
    text = changelog(
        version=version,
        previous=previous,
        before=before.manifest if before else None,
        after=manifest,
        diff=diff,
        earlier=last.changelog if last else "",
        label=released[: len("YYYY-MM")],
    )
    if last is None:
        _refuse_to_lose(folder / FILE, text)
    return Release(
        folder=folder,
        previous=previous,
        version=version,
        diff=diff,
        changelog=text,
        released=released,
    )


def _refuse_to_lose(log: Path, text: str) -> None:
    """Refuse to replace the changelog of earlier releases by that of a first one.

    Raises:
        BadConfiguration: it would be (exit 78).
        BadData: the file is not UTF-8.
    """
    if log.is_file() and _unlabelled(read_utf8(log)) != _unlabelled(text):
        raise BadConfiguration(
            "tells of earlier releases, and a first release would replace it",
            str(log),
            "name the last one with --against, or remove the file",
        )


def _unlabelled(changelog: str) -> str:
    """Return a changelog without the months in its headings."""
    return _LABEL.sub("", changelog)


def _version(previous: Version | None, level: Level) -> Version:
    first = Version(MAJOR, 0, 0)
    if previous is None:
        return first
    # A raised MAJOR starts a line of versions, however small the change is.
    return max(previous.next(level), first)


def write_release(release: Release) -> list[str]:
    """Write the changelog and the version into the folder; return the paths.

    Calling it again completes an interrupted release.

    Raises:
        CannotCreate: the folder cannot be written (exit 73).
    """
    with writing(release.folder):
        atomic_write_bytes(release.folder / FILE, release.changelog.encode())
        facts = msgspec.structs.replace(
            read_facts(release.folder),
            data_version=str(release.version),
            released=release.released,
        )
        written = rebuild(release.folder, facts)
    return [FILE, *written]


@contextmanager
def last_release(where: str) -> Iterator[LastRelease]:
    """Open the edition that a folder or a Hub dataset holds.

    A dataset on the Hub without a revision is opened at its highest version tag, else
    at main.

    Raises:
        NoInput: there is none.
        BadData: it was never released, or what it holds cannot be read.
        CsbdataError: the Hub cannot be reached, or refuses.
    """
    if Path(where).is_dir():
        yield _read_release(Path(where), where)
        return
    with TemporaryDirectory(prefix="csbdata-release-") as name:
        yield _read_release(Path(name), where, _download(where, Path(name)))


def _read_release(
    folder: Path, where: str, tagged: Version | None = None
) -> LastRelease:
    manifest = read_manifest(folder) if (folder / MANIFEST).is_file() else None
    version = tagged or PUBLISHED
    if manifest is not None:
        own = Version.parse(manifest.data_version)
        if own is None:
            raise BadData(
                f"it says version {manifest.data_version}, which was never released",
                where,
                "name the edition that was released last",
            )
        version = own
    log = folder / FILE
    earlier = read_utf8(log) if log.is_file() else ""
    dataset = DatasetFolder(folder=folder, manifest=manifest)
    return LastRelease(dataset=dataset, version=version, changelog=earlier)


def _download(where: str, folder: Path) -> Version | None:
    """Download tables, manifest and changelog; return the version of the tag."""
    from curation.publish.repository import MAIN, HubRepository  # noqa: PLC0415 - slow

    dataset = dataset_name(where)
    if dataset is None:
        raise NoInput("no such folder", where, "owner/name is on the Hub")
    repository = HubRepository(name=dataset.name)
    revision = dataset.revision
    if not revision:
        tags = ((Version.parse(tag), tag) for tag in repository.tags())
        released = {tag: version for version, tag in tags if version}
        revision = max(released, key=released.__getitem__, default=MAIN)
    state = repository.state(revision)
    names = [name for name in state.files if is_table(name) or name in {MANIFEST, FILE}]
    if not names:
        raise NoInput("the dataset holds no tables", f"{dataset.name}@{revision}")
    repository.fetch(state.head, names, folder)
    return Version.parse(revision)
