"""A package's file from the package index, through the user's own pip and settings."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.machinery import PathFinder
from shutil import which
from typing import TYPE_CHECKING, Final

from curation.download.pins import ArchiveKind
from curation.system.checksums import file_digest
from curation.system.errors import (
    CannotCreate,
    TemporarilyUnavailable,
    Unavailable,
    WrongDigest,
)
from curation.system.programs import (
    EndedProgram,
    environment_for_others,
    last_error,
    run_to_end,
)

if TYPE_CHECKING:
    from pathlib import Path

    from curation.download.cache import Cache
    from curation.download.http import Network
    from curation.download.pins import ArchivePin

#: Seconds for one file; the largest has 93 MB.
DEADLINE: Final = 600.0
_SERVICE: Final = "the package index"
#: What pip prints when no host answers.
_SILENT: Final = re.compile(r"connection broken by|Failed to establish|ConnectTimeout")
#: The system's words when a disk, or a user's part of it, is full.
_FULL: Final = re.compile(r"No space left on device|Disk quota exceeded|Errno 28\b")
#: pip's own words when a file has not the sha256 that it was told.
_REFUSED: Final = "DO NOT MATCH THE HASHES"
_OPTIONS: Final = (
    "download",
    "--no-deps",
    "--no-input",
    "--disable-pip-version-check",
    "--quiet",
    "--timeout=10",
    "--retries=1",
)


def download_package(
    pin: ArchivePin, folder: Path, network: Network, cache: Cache
) -> Path:
    """Return a wheel or a source archive, which has the sha256 of its pin.

    pip asks a source archive for its metadata, which runs its build backend: it is
    told the sha256, so that nothing else is ever run.

    Raises:
        Unavailable: pip cannot get it (exit 69).
        TemporarilyUnavailable: pip does not end in time (exit 75).
        CannotCreate: there is no room for the file (exit 73).
        WrongDigest: the index gives another; the file is kept as evidence (exit 65).
    """
    if _SERVICE in network.silent:
        raise Unavailable("did not answer before", _SERVICE)
    request = f"{pin.repository}=={pin.commit}"
    ended = _run_pip([*pip_command(), *_OPTIONS, *_asked(pin, request, folder)], folder)
    error = ended.printed
    files = sorted(
        folder.glob("*.whl" if pin.kind is ArchiveKind.WHEEL else "*.tar.gz")
    )
    if _REFUSED in error:
        what = f"pip refuses {request}, which has not the sha256 {pin.sha256}"
        raise WrongDigest(what, _SERVICE, "see which index pip is told to ask")
    if ended.code and _FULL.search(error):
        what = f"no room for {request} ({last_error(error)})"
        raise CannotCreate(what, str(folder), "make room and run the same command")
    # What a pip that failed has left may be cut.
    if ended.code or not files:
        if _SILENT.search(error):
            network.silent.add(_SERVICE)
        what = f"pip cannot get {request} ({last_error(error)})"
        raise Unavailable(what, _SERVICE)
    found = file_digest(files[0])
    if pin.sha256 and found != pin.sha256:
        evidence = cache.refuse(files[0], f"{found[:16]}-{files[0].name}")
        what = f"{request} has sha256 {found}, the pin says {pin.sha256}"
        raise WrongDigest(what, _SERVICE, f"refused, kept as {evidence}")
    return files[0]


def _asked(pin: ArchivePin, request: str, folder: Path) -> tuple[str, ...]:
    """Return what pip is asked for, and where to put it."""
    to = f"--dest={folder}"
    if pin.kind is ArchiveKind.WHEEL:
        return "--only-binary=:all:", to, request
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{request} --hash=sha256:{pin.sha256}\n", encoding="utf-8")
    source = f"--no-binary={pin.repository}"
    return source, "--require-hashes", to, f"--requirement={wanted}"


def pip_command() -> list[str]:
    """Return how pip is called: of this Python, else the one on the path.

    Raises:
        Unavailable: there is none (exit 69).
    """
    # The finders of setuptools would exchange `distutils` for the whole process.
    if PathFinder.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    program = which("pip") or which("pip3")
    if program is None:
        raise Unavailable("there is no pip here", _SERVICE, "python -m ensurepip")
    return [program]


def _run_pip(command: list[str], folder: Path) -> EndedProgram:
    """Run pip to its end or its deadline; what it says on stderr counts."""
    try:
        return run_to_end(
            command,
            DEADLINE,
            environment=environment_for_others(),
            folder=folder,
            errors_only=True,
        )
    except subprocess.TimeoutExpired as error:
        what = f"pip did not end within {DEADLINE:g} seconds"
        raise TemporarilyUnavailable(what, _SERVICE) from error
