"""The pins of `raw/sources.toml`: files to fetch, and their required content."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import msgspec

from curation.system.errors import BadConfiguration
from curation.system.user_files import raw_folder, reading

_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def selects(patterns: tuple[str, ...], path: str) -> bool:
    """Return whether a path matches one of some patterns.

    `*` and `?` stop at `/`, `**` does not. Every other character matches itself.

    Example:
        >>> selects(("src/**/*.json",), "src/a/b.json")
        True
    """
    return bool(patterns) and _expression(patterns).fullmatch(path) is not None


@cache
def _expression(patterns: tuple[str, ...]) -> re.Pattern[str]:
    translated = (
        "".join(_MEANINGS.get(part) or re.escape(part) for part in parts)
        for parts in map(_TOKENS.findall, patterns)
    )
    return re.compile("|".join(translated), re.DOTALL)


_Sha256 = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?$")]
#: The forms in which a mirror may hold a repository's archive.
_TARBALLS = (".tar.gz", ".tar.xz", ".zip")


class ArchiveKind(StrEnum):
    """How an archive is had from those who publish it."""

    GITHUB = "github"
    """A repository's tarball at a commit."""
    HUB = "hub"
    """One file of a dataset on the Hub, at a revision."""
    WHEEL = "wheel"
    """A package's wheel from the user's package index, by exact version."""
    SDIST = "sdist"
    """A package's source archive from the same index, by exact version."""
    NPM = "npm"
    """A package's tarball from the user's npm registry, by exact version."""

    @property
    def is_package(self) -> bool:
        """Whether it is a package's file, named by package and version."""
        return self not in {ArchiveKind.GITHUB, ArchiveKind.HUB}

    @property
    def publisher(self) -> str:
        """Who is asked for it, as a sentence names them."""
        names = {
            ArchiveKind.GITHUB: "GitHub",
            ArchiveKind.HUB: "the Hub",
            ArchiveKind.NPM: "the npm registry",
        }
        return names.get(self, "the package index")

    @property
    def has_outer_folder(self) -> bool:
        """Whether all its members are in one folder."""
        return self not in {ArchiveKind.HUB, ArchiveKind.WHEEL}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivePin:
    """One archive: where it is published, and what exactly is read of it."""

    #: What sources call it, and the embedded sample's folder.
    name: str
    kind: ArchiveKind
    #: `owner/name`; for a package's file the name of the package.
    repository: str
    #: Commit or revision; for a package's file the version.
    commit: str
    #: The published file's name; empty for a tarball.
    file: str = ""
    #: The files that sources read.
    paths: tuple[str, ...]
    #: Over the selected files (`curation.download.packs.compute_digest`).
    digest: _Sha256
    #: The published file's, where it has fixed bytes, as every package's.
    sha256: _Sha256 = ""
    #: The licence texts' and notices' among the selected files, which a build copies:
    #: lines `sha256hex  path`.
    texts: tuple[str, ...] = ()
    #: SPDX expression of the collection.
    licence: str
    #: SPDX expression of the single files.
    file_licence: str
    attribution: str
    citation: str
    homepage: str

    @property
    def file_names(self) -> tuple[str, ...]:
        """What the archive's file may be called in a mirror, best first."""
        if self.kind is not ArchiveKind.GITHUB:
            return (self.file,)
        repository = self.repository.rpartition("/")[2]
        return tuple(f"{repository}-{self.commit}{form}" for form in _TARBALLS)

    def described(self) -> dict[str, str]:
        """Return a description of the archive, as text."""
        names = (
            *("kind", "repository", "commit", "digest", "licence", "file_licence"),
            *("attribution", "citation", "homepage"),
        )
        return {"archive": self.name} | {
            name: str(getattr(self, name)) for name in names
        }


def load_pins(path: Path | None = None) -> Mapping[str, ArchivePin]:
    """Return the pins by name, in the order of the file.

    Args:
        path: A file like `raw/sources.toml`, which is read by default.

    Raises:
        NoInput: no such file.
        BadConfiguration: it is not TOML, or a pin has missing or wrong keys.
    """
    path = path or raw_folder() / "sources.toml"
    try:
        with reading(path):
            return _pins(path.read_text(encoding="utf-8"), path)
    except ValueError as error:
        raise BadConfiguration(f"not TOML: {error}", str(path)) from error


@cache
def _pins(text: str, path: Path) -> Mapping[str, ArchivePin]:
    pin_fields = {field.name for field in fields(ArchivePin)}
    pins: dict[str, ArchivePin] = {}
    for name, table in tomllib.loads(text).get("archive", {}).items():
        values = dict(table)
        # So they are called where the archive is a package's file.
        for ours, theirs in (("repository", "package"), ("commit", "version")):
            if theirs in values:
                values[ours] = values.pop(theirs)
        values["name"] = name
        if unknown := values.keys() - pin_fields:
            message = f"[archive.{name}] has unknown keys: {', '.join(sorted(unknown))}"
            raise BadConfiguration(message, str(path))
        try:
            pins[name] = msgspec.convert(values, ArchivePin)
        except msgspec.ValidationError as error:
            raise BadConfiguration(f"[archive.{name}]: {error}", str(path)) from error
    return MappingProxyType(pins)


def pins_for(source: str, archives: Iterable[str]) -> dict[str, ArchivePin]:
    """Return the pins of the archives that a source names, in its order.

    Raises:
        BadConfiguration: an archive has no pin.
    """
    pins, names = load_pins(), list(archives)
    for name in names:
        if name not in pins:
            message = (
                f"the source {source!r} reads the archive {name!r}, which has no pin"
            )
            hint = f"add [archive.{name}] to it"
            raise BadConfiguration(message, str(raw_folder() / "sources.toml"), hint)
    return {name: pins[name] for name in names}
