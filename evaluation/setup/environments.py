"""Isolated environments of engines in the cache, filled by pip.

A virtual environment of this Python with one version of one engine, so that conflicting
versions run side by side. It counts once it has the record written after its
trial.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from curation.core.benchmark import natural_key
from curation.system.atomic_files import atomic_write_bytes, locked, writing
from curation.system.errors import (
    BadConfiguration,
    BadUsage,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.system.programs import (
    EndedProgram,
    environment_for_others,
    last_error,
    run_to_end,
)
from evaluation.setup.engine_files import (
    FAITHFUL,
    EngineFile,
    choose_options,
    engine_paths,
    find_engine,
    has_name,
)

RECORD = "environment.json"
_TABLE = Path(__file__).with_name("versions.toml")
#: The trial of an engine, and its seconds.
_TRIAL_FILE = Path(__file__).with_name("environment_smoke_test.py")
_TRIAL_SECONDS = 300.0
#: Seconds for all that pip does at once; compiling takes minutes.
_INSTALL_SECONDS = 3600.0
_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")
#: A version as PEP 440 spells it, near enough to keep paths out of a folder's name.
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!-]*")


class KnownVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `versions.toml`: what one version of an engine needs."""

    engine: str
    version: str
    #: Requirements installed without their own requirements.
    alone: tuple[str, ...] = ()
    #: Requirements installed with their own requirements.
    together: tuple[str, ...] = msgspec.field(default=(), name="with")
    note: str = ""
    #: How long pip compiles; empty where it does not.
    compiles: str = ""
    #: Size of the download, as it was measured once; None where it was not.
    megabytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """An environment of an engine, tried and ready: the record in its folder."""

    engine: str
    version: str
    folder: Path
    #: Name and version of everything in it.
    packages: Mapping[str, str]

    @property
    def interpreter(self) -> Path:
        """Its Python."""
        return environment_python(self.folder)


def environments_folder(cache: Path) -> Path:
    """Return the folder of all environments in a cache; it need not exist."""
    return cache / "environments"


def environment_python(folder: Path) -> Path:
    """Return the Python of a virtual environment."""
    return folder / "bin" / "python"


def environment_folder(cache: Path, name: str, version: str) -> Path:
    """Return where the environment of an engine's version is, or would be.

    Raises:
        BadConfiguration: not a version.
    """
    if not _VERSION.fullmatch(version):
        raise BadUsage(f"{version!r} is no version", hint=f"write {name}==1.2.3")
    return environments_folder(cache) / f"{name}-{version}"


@cache
def known_versions() -> tuple[KnownVersion, ...]:
    """Return the versions of engines tried, an engine's default first."""
    table = tomllib.loads(_TABLE.read_text("utf-8"))
    return msgspec.convert(table["row"], tuple[KnownVersion, ...])


def version_to_install(file: EngineFile) -> KnownVersion:
    """Return how to install an engine: as tried, otherwise from its distribution.

    Raises:
        BadConfiguration: there is nothing to install, or no version is known.
    """
    if not file.distribution:
        raise BadConfiguration(
            f"{file.name} needs nothing installed", hint=f"--engine {file.spec}"
        )
    for pinned in known_versions():
        if pinned.engine == file.name and file.version in ("", pinned.version):
            return pinned
    if not file.version:
        raise BadConfiguration(
            f"no version of {file.name} is known to work",
            hint=f"name one: csbdata engines add {file.name}==VERSION",
        )
    requirement = f"{file.distribution}=={file.version}"
    return KnownVersion(
        engine=file.name, version=file.version, alone=(), together=(requirement,)
    )


def existing_environments(cache: Path, name: str = "") -> list[Environment]:
    """Return the cached environments of one engine or all, by folder name."""
    read = (
        _read(record)
        for record in sorted(environments_folder(cache).glob(f"[!.]*/{RECORD}"))
    )
    return [
        environment
        for environment in read
        if environment and name in ("", environment.engine)
    ]


def find_interpreter(cache: Path, file: EngineFile) -> Path | str:
    """Return the Python that has an engine in the version wanted, or why none has.

    This one, if the engine loads in it; otherwise an environment's. Without a version
    any will do, a tried default before others.
    """
    installed = installed_version(file.distribution)
    wanted_here = not file.distribution or (
        installed and file.version in ("", installed)
    )
    broken = ""
    if wanted_here and is_complete_here(file):
        broken = _why_not_here(file.path, file.digest()) if has_name(file) else ""
        if not broken:
            return Path(sys.executable)
    ready = {
        environment.version: environment
        for environment in existing_environments(cache, file.name)
    }
    version = file.version
    if not version:
        tried = [
            pinned.version for pinned in known_versions() if pinned.engine == file.name
        ]
        newest = max(ready, key=natural_key, default="")
        version = next((each for each in tried if each in ready), newest)
    interpreter = ready.get(version)
    if interpreter is not None:
        return interpreter.interpreter
    name = f"{file.distribution} {file.version}".strip()
    if broken:
        return f"{file.distribution} {installed} is here and does not run ({broken})"
    also = f" (but {installed} is)" if installed and file.version else ""
    extra = file.about.extra
    if extra and not file.version:
        also = f" (pip install 'csbdata[{extra}]' puts it beside csbdata)"
    return f"{name} is not installed here{also}"


@cache
def _why_not_here(path: Path, _digest: str) -> str:
    """Return why an engine does not run in this Python; empty if it does."""
    name = next(
        name for name, engine_path in engine_paths().items() if engine_path == path
    )
    return try_engine(Path(sys.executable), find_engine(name))


def try_engine(python: Path, file: EngineFile) -> str:
    """Load an engine over a small vocabulary, compile, and compute one mask.

    Returns:
        Why it does not do that; empty if it does.
    """
    if not file.distribution:
        return ""
    options = json.dumps(choose_options(file, FAITHFUL, {}))
    command = [str(python), "-P", str(_TRIAL_FILE), str(file.path), options]
    ended = _run(command, _TRIAL_SECONDS, file.environment())
    return last_error(ended.printed) if ended.code else ""


def installed_version(distribution: str) -> str:
    """Return the version of a distribution in this Python; empty if absent."""
    try:
        return version(distribution) if distribution else ""
    except PackageNotFoundError:
        return ""


def is_complete_here(file: EngineFile) -> bool:
    """Return whether everything that the engine's file names is installed here."""
    # Of `engine[extra]>=1.0rc1` the name.
    names = re.findall(r"(?:^|\s)([A-Za-z][\w.-]*)", file.about.install or "")
    return all(installed_version(name) for name in names)


def _read(path: Path) -> Environment | None:
    """Return the environment of a record; None if it is damaged or has no Python."""
    try:
        record = {**json.loads(path.read_bytes()), "folder": str(path.parent)}
        environment = msgspec.convert(
            record, Environment, dec_hook=lambda _kind, text: Path(text)
        )
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return environment if environment.interpreter.exists() else None


def ready_environment(cache: Path, file: EngineFile) -> Environment | None:
    """Return the environment of a wanted version; None before its installation."""
    version = version_to_install(file).version
    for environment in existing_environments(cache, file.name):
        if environment.version == version:
            return environment
    return None


def make_environment(
    cache: Path, file: EngineFile, log: Callable[[str], None]
) -> Environment:
    """Make an environment: install by pip with your own configuration, try, record.

    A failure leaves no files; the next run removes leftovers of a killed one.

    Args:
        cache: The cache in which it is made.
        file: The engine, and the version wanted.
        log: Progress of slow steps.

    Raises:
        Unavailable: pip cannot get or build something, or the engine does not run.
        TemporarilyUnavailable: another csbdata is making it.
        CannotCreate: the cache cannot be written.
        BadConfiguration: there is nothing to install.
    """
    row = version_to_install(file)
    folder = environment_folder(cache, row.engine, row.version)
    busy = TemporarilyUnavailable(
        "another csbdata is at work on this environment", str(folder), "try again later"
    )
    lock = folder.with_name(f".{folder.name}.lock")
    with writing(folder), locked(lock, busy), _folder_aside(folder) as fresh:
        # Not `venv.create`, which hands ensurepip all of our environment variables.
        created = _run([sys.executable, "-m", "venv", str(fresh)], _TRIAL_SECONDS)
        if created.code:
            message = "this Python cannot make an environment with pip in it"
            hint = "install what your system calls python3-venv"
            raise Unavailable(message, sys.executable, hint)
        # The settings of this Python's pip.
        settings = Path(sys.prefix) / "pip.conf"
        if settings.is_file():
            shutil.copy(settings, fresh)
        log(f"{row.engine} {row.version}: installing")
        if row.together:
            _pip(fresh, "install", "--quiet", *row.together)
        if row.alone:
            _pip(fresh, "install", "--quiet", "--no-deps", *row.alone)
        log(f"{row.engine} {row.version}: trying it")
        if why := try_engine(environment_python(fresh), file):
            message = f"was installed and does not run ({why})"
            raise Unavailable(message, file.spec, "nothing was kept")
        packages = _pip(fresh, "list", "--format=json")
        environment = Environment(
            engine=row.engine,
            version=row.version,
            folder=folder,
            packages={
                package["name"]: package["version"]
                for package in json.loads(
                    packages[packages.index("[") :].splitlines()[0]
                )
            },
        )
        record = {
            "engine": row.engine,
            "version": row.version,
            "packages": environment.packages,
            "csbdata": version("csbdata"),
        }
        atomic_write_bytes(fresh / RECORD, json.dumps(record, indent=1).encode())
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    return environment


@contextmanager
def _folder_aside(folder: Path) -> Iterator[Path]:
    """Yield an empty temporary folder next to it, removed unless renamed.

    No two runs have the same: the pip of a killed one may write on. Unlike
    `atomic_folder` it writes nothing through to the disk: an environment has thousands
    of files, and can be made again.
    """
    prefix = f".making-{folder.name}-"
    for leftover in folder.parent.glob(f"{prefix}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(
        prefix=prefix, dir=folder.parent, ignore_cleanup_errors=True
    ) as path:
        yield Path(path)


def _pip(folder: Path, *arguments: str) -> str:
    """Run an environment's pip to its end; return its output.

    Raises:
        Unavailable: it ends with an error, whose last words are the reason.
    """
    command = [str(environment_python(folder)), *_PIP, *arguments]
    printed, code = _run(command, _INSTALL_SECONDS)
    if code:
        message = f"pip cannot install it ({last_error(printed)})"
        raise Unavailable(message, "the package index")
    return printed


def _run(
    command: list[str], seconds: float, variables: Mapping[str, str] | None = None
) -> EndedProgram:
    environment = {**environment_for_others(), **(variables or {})}
    try:
        return run_to_end(command, seconds, environment=environment)
    except subprocess.TimeoutExpired:
        return EndedProgram(f"it did not end within {seconds:g} seconds", 1)
    except OSError as error:
        return EndedProgram(str(error), 1)
