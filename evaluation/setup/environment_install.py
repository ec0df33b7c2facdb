"""Install an environment for an engine: make, install by pip, try, record."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.system.atomic_files import atomic_write_bytes, writing
from curation.system.errors import Unavailable
from curation.system.programs import (
    EndedProgram,
    environment_for_others,
    last_error,
    run_to_end,
)
from evaluation.setup.environments import (
    RECORD,
    Environment,
    EnvironmentRecord,
    KnownVersion,
    environment_folder,
    environment_python,
    existing_environments,
    locked,
    try_engine,
    version_to_install,
)

if TYPE_CHECKING:
    from evaluation.setup.engine_files import EngineFile

#: Seconds for all that pip does at once; compiling takes minutes.
_DEADLINE = 3600.0
#: Seconds for the trial of an engine.
_TRIAL = 300.0
_SERVICE = "the package index"
_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "install")
_ENSUREPIP = ("-m", "ensurepip", "--upgrade", "--default-pip")


class _Metadata(msgspec.Struct):
    name: str
    version: str


def ready_environment(cache: Path, file: EngineFile) -> Environment | None:
    """Return the environment of a wanted version; None if there is none yet."""
    row = version_to_install(file)
    same = (
        environment
        for environment in existing_environments(cache, file.name)
        if environment.version == row.version
    )
    return next(same, None)


def make_environment(
    cache: Path, file: EngineFile, say: Callable[[str], None]
) -> Environment:
    """Make an environment; pip installs with your own configuration.

    A failure leaves nothing behind; the next run removes what a killed one left.

    Args:
        cache: The cache in which it is made.
        file: The engine, and the version that is wanted.
        say: Called with what takes time.

    Raises:
        Unavailable: pip cannot get or build something, or the engine does not run.
        TemporarilyUnavailable: another csbdata is making it.
        CannotCreate: the cache cannot be written.
        BadConfiguration: there is nothing to install.
    """
    row = version_to_install(file)
    folder = environment_folder(cache, row.engine, row.version)
    with writing(folder), locked(folder), _aside(folder) as fresh:
        _create(fresh)
        packages = _install(file, row, fresh, say)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    return Environment(
        engine=row.engine, version=row.version, folder=folder, packages=packages
    )


def _install(
    file: EngineFile, row: KnownVersion, folder: Path, say: Callable[[str], None]
) -> dict[str, str]:
    """Fill an empty environment; return the name and version of all in it."""
    say(f"{row.engine} {row.version}: installing")
    for request in _requests(row):
        _pip(folder, *request)
    say(f"{row.engine} {row.version}: trying it")
    if why := try_engine(environment_python(folder), file):
        what = f"was installed and does not run ({why})"
        raise Unavailable(what, file.spec, "nothing was kept")
    record = EnvironmentRecord(
        engine=row.engine,
        version=row.version,
        packages=_packages(folder),
        csbdata=version_of("csbdata"),
    )
    content = msgspec.json.format(msgspec.json.encode(record), indent=1)
    atomic_write_bytes(folder / RECORD, content)
    return record.packages


def _requests(row: KnownVersion) -> Iterator[tuple[str, ...]]:
    if row.together:
        yield row.together
    if row.alone:
        yield ("--no-deps", *row.alone)


@contextlib.contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside it, which goes in the end unless it was renamed.

    No two runs have the same: the pip of one that was killed may write on. Unlike
    `atomic_folder` it writes nothing through to the disk: an environment has thousands
    of files, and can be made again.
    """
    prefix = f".making-{folder.name}-"
    for left in folder.parent.glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(
        prefix=prefix, dir=folder.parent, ignore_cleanup_errors=True
    ) as place:
        yield Path(place)


def _create(folder: Path) -> None:
    """Make an empty environment whose pip has the settings of this Python's.

    Raises:
        Unavailable: this Python cannot make environments.
    """
    # `with_pip=True` would hand ensurepip all of our environment variables.
    venv.create(folder, symlinks=os.name != "nt")
    if _run([str(environment_python(folder)), *_ENSUREPIP], _TRIAL).code:
        what = "this Python cannot make an environment with pip in it"
        then = "install what your system calls python3-venv"
        raise Unavailable(what, sys.executable, then)
    name = "pip.ini" if os.name == "nt" else "pip.conf"
    own = Path(sys.prefix) / name
    if own.is_file():
        shutil.copy(own, folder / name)


def _pip(folder: Path, *arguments: str) -> None:
    """Run an environment's pip to its end.

    Raises:
        Unavailable: it ends with an error, whose last words are the reason.
    """
    printed, code = _run(
        [str(environment_python(folder)), *_PIP, "--quiet", *arguments], _DEADLINE
    )
    if code:
        raise Unavailable(f"pip cannot install it ({last_error(printed)})", _SERVICE)


def _run(command: Sequence[str], seconds: float) -> EndedProgram:
    try:
        return run_to_end(command, seconds, environment=environment_for_others())
    except subprocess.TimeoutExpired:
        return EndedProgram(f"it did not end within {seconds:g} seconds", 1)


def _packages(folder: Path) -> dict[str, str]:
    command = [str(environment_python(folder)), "-m", "pip", "list", "--format=json"]
    printed, _ = _run([*command, "--disable-pip-version-check"], _TRIAL)
    start = printed.find("[")
    array = printed[start : printed.rfind("]") + 1] if start >= 0 else "[]"
    packages = msgspec.json.decode(array, type=list[_Metadata])
    return {package.name: package.version for package in packages}
