"""Isolated environments of engines, in the cache: where they are, which one to use.

An environment is a virtual environment of this Python with one version of one
engine, so that versions that exclude each other run side by side. It counts only
with the record that is written after its trial; anything else is a torso.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from curation.download.acquire import FetchSettings
from curation.system import locks
from curation.system.atomic_files import cannot_write
from curation.system.errors import BadConfiguration, NoInput, TemporarilyUnavailable
from evaluation.setup.engine_files import engine_paths, find_engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import UntypedJson
    from evaluation.setup.engine_files import EngineFile

RECORD = "environment.json"
_TABLE = Path(__file__).with_name("versions.toml")
#: A version as PEP 440 spells it, near enough to keep paths out of a folder's name.
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownVersion:
    """What one version of an engine needs, as it was tried."""

    engine: str
    version: str
    #: Requirements installed without what they ask for themselves.
    alone: tuple[str, ...]
    #: Requirements installed with all they ask for.
    together: tuple[str, ...]
    note: str = ""
    #: How long pip compiles; empty where it does not.
    compiles: str = ""
    #: Of the download, as measured once; None where nobody did.
    megabytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """An engine's own environment, tried and ready."""

    engine: str
    version: str
    folder: Path
    #: Name and version of everything in it.
    packages: Mapping[str, str]

    @property
    def interpreter(self) -> Path:
        """Its Python."""
        return environment_python(self.folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotInstalled:
    """Why an engine cannot be run here, and the line that changes it."""

    reason: str
    install: str


def environments_folder() -> Path:
    """Return the folder of all environments; it need not exist."""
    return FetchSettings.from_environment().cache / "environments"


def environment_python(folder: Path) -> Path:
    """Return the Python of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def environment_folder(name: str, wanted: str) -> Path:
    """Return where the environment of an engine's version is, or would be.

    Raises:
        BadConfiguration: this is no version.
    """
    if not _VERSION.fullmatch(wanted):
        raise BadConfiguration(f"{wanted!r} is no version", then=f"write {name}==1.2.3")
    return environments_folder() / f"{name}-{wanted}"


@cache
def known_versions() -> tuple[KnownVersion, ...]:
    """Return what was tried, an engine's default version first."""
    listed = tomllib.loads(_TABLE.read_text("utf-8"))["row"]
    return tuple(
        KnownVersion(
            engine=each["engine"],
            version=each["version"],
            alone=tuple(each.get("alone", ())),
            together=tuple(each.get("with", ())),
            note=each["note"],
            compiles=each.get("compiles", ""),
            megabytes=each.get("megabytes"),
        )
        for each in listed
    )


def version_to_install(file: EngineFile) -> KnownVersion:
    """Return how to install an engine: as it was tried, else as it asks to be.

    Raises:
        BadConfiguration: there is nothing to install, or no version is known.
    """
    if not file.distribution:
        raise BadConfiguration(
            f"{file.name} needs nothing installed", then=f"--engine {file.spec}"
        )
    tried = [each for each in known_versions() if each.engine == file.name]
    for each in tried:
        if file.version in ("", each.version):
            return each
    if not file.version:
        raise BadConfiguration(
            f"no version of {file.name} is known to work",
            then=f"name one: csbdata engines add {file.name}==VERSION",
        )
    wanted = f"{file.distribution}=={file.version}"
    return KnownVersion(
        engine=file.name, version=file.version, alone=(), together=(wanted,)
    )


def existing_environments(name: str = "") -> list[Environment]:
    """Return the environments there are, of one engine or of all, by folder name."""
    read = (_read(each) for each in sorted(environments_folder().glob(f"*/{RECORD}")))
    return [each for each in read if each and name in ("", each.engine)]


def find_interpreter(file: EngineFile) -> Path | NotInstalled:
    """Return the Python that has an engine in the version wanted.

    This one, if it has it; else that of an environment. Without a version any will
    do, a tried default before others.
    """
    here = installed_version(file.distribution)
    wanted_here = not file.distribution or (here and file.version in ("", here))
    if wanted_here and is_complete_here(file):
        return Path(sys.executable)
    ready = {each.version: each for each in existing_environments(file.name)}
    if file.version:
        chosen = ready.get(file.version)
    else:
        tried = [each.version for each in known_versions() if each.engine == file.name]
        order = [each for each in tried if each in ready] + sorted(ready, reverse=True)
        chosen = ready[order[0]] if order else None
    if chosen is not None:
        return chosen.interpreter
    name = f"{file.distribution} {file.version}".strip()
    also = f" (but {here} is)" if here and file.version else ""
    return NotInstalled(
        reason=f"{name} is not installed here{also}", install=install_line(file)
    )


def install_line(file: EngineFile) -> str:
    """Return the line that installs an engine; empty where none is needed.

    What an engine's file given by its path wants is installed beside csbdata: only
    an engine with a name has environments.
    """
    if not file.distribution:
        return ""
    wanted = f"=={file.version}" if file.version else ""
    if engine_paths().get(file.name) == file.path:
        return f"csbdata engines add {file.name}{wanted}"
    words = str(file.about.get("install", file.distribution)).split()
    return shlex.join(["pip", "install", *words])


def installed_version(distribution: str) -> str:
    """Return the version of a distribution in this Python; empty if there is none."""
    try:
        return version(distribution) if distribution else ""
    except PackageNotFoundError:
        return ""


def remove_environments(spec: str) -> list[Environment]:
    """Remove an engine's environment, or all of them; return what was removed.

    Raises:
        NoInput: there is none.
        TemporarilyUnavailable: another csbdata is making it.
        CannotCreate: it cannot be deleted.
    """
    file = find_engine(spec)
    gone = [
        each
        for each in existing_environments(file.name)
        if file.version in ("", each.version)
    ]
    if not gone:
        there = ", ".join(
            f"{each.engine}=={each.version}" for each in existing_environments()
        )
        raise NoInput(
            "there is no such environment", spec, f"there are {there or 'none'}"
        )
    for each in gone:
        with locked(each.folder):
            try:
                # The record first: what is left half deleted counts no more.
                (each.folder / RECORD).unlink(missing_ok=True)
                shutil.rmtree(each.folder)
            except OSError as error:
                raise cannot_write(each.folder, error) from error
    return gone


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Be the only process that works on an environment.

    Raises:
        TemporarilyUnavailable: another process does.
        CannotCreate: there can be no lock.
    """
    busy = TemporarilyUnavailable(
        "another csbdata is at work on this environment", str(folder), "try again later"
    )
    with locks.locked(folder.with_name(f".{folder.name}.lock"), busy):
        yield


def is_complete_here(file: EngineFile) -> bool:
    """Tell whether everything that the engine's file names is installed here."""
    names = re.findall(r"[A-Za-z][\w.-]*", str(file.about.get("install", "")))
    return all(installed_version(each) for each in names)


def _read(record: Path) -> Environment | None:
    try:
        told: UntypedJson = json.loads(record.read_bytes())
        made = Environment(
            engine=told["engine"],
            version=told["version"],
            folder=record.parent,
            packages=told["packages"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return made if made.interpreter.exists() else None
