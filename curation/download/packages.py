"""Packages by name and version, through pip and npm."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from shutil import which

from curation.download.http import Unreachable
from curation.download.pins import ArchiveKind, ArchivePin
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
from curation.system.user_files import file_digest

#: Seconds for one package; the largest has 93 MB.
DEADLINE = 600.0
#: npm's codes for a package or a version that an answering registry does not have.
_UNKNOWN = re.compile(r"\b(?:E404|ETARGET|ENOVERSIONS)\b")
#: pip's words when no host answers.
_SILENT = re.compile(r"connection broken by|Failed to establish|ConnectTimeout")
#: pip's words when a file has another sha256.
_REFUSED = "DO NOT MATCH THE HASHES"
#: The system's words when a disk, or a user's part of it, is full.
_FULL = re.compile(r"No space left on device|Disk quota exceeded|Errno 28\b")
_PIP_OPTIONS = (
    "download",
    "--no-deps",
    "--no-input",
    "--disable-pip-version-check",
    "--quiet",
    "--timeout=10",
    "--retries=1",
)


def npm_environment() -> dict[str, str]:
    """Return the environment of npm: its own variables name the user's registry."""
    return environment_for_others() | {
        name: value
        for name, value in os.environ.items()
        if name.lower().startswith("npm_config_")
    }


def pip_command() -> list[str]:
    """Return the command of pip: of this Python, otherwise from the path.

    Raises:
        Unavailable: it is missing.
    """
    # The finders of setuptools would exchange `distutils` for the whole process.
    if PathFinder.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    program = which("pip") or which("pip3")
    if program is None:
        raise Unavailable("pip is not installed", hint="python -m ensurepip")
    return [program]


def _request(pin: ArchivePin) -> str:
    sign = "@" if pin.kind is ArchiveKind.NPM else "=="
    return f"{pin.repository}{sign}{pin.commit}"


def run_client(pins: Sequence[ArchivePin], folder: Path) -> EndedProgram:
    """Let npm or pip put packages of one kind into a folder, unverified.

    Raises:
        Unavailable: it is not installed.
        TimeoutExpired: it does not end in time.
    """
    kind = pins[0].kind
    if kind is ArchiveKind.NPM:
        program = which("npm")
        if program is None:
            hint = f"install npm, or put {pins[0].file} into a mirror (--mirror)"
            raise Unavailable("npm is not installed", kind.publisher, hint)
        options = "--ignore-scripts", "--loglevel=error"
        command = [program, "pack", *map(_request, pins), *options]
        environment = npm_environment()
    else:
        names = "".join(f" --no-binary={pin.repository}" for pin in pins).split()
        form = ["--only-binary=:all:"] if kind is ArchiveKind.WHEEL else names
        wanted = folder / "wanted.txt"
        lines = (f"{_request(pin)} --hash=sha256:{pin.sha256}\n" for pin in pins)
        wanted.write_text("".join(lines), encoding="utf-8")
        to = f"--dest={folder}", f"--requirement={wanted}"
        command = [*pip_command(), *_PIP_OPTIONS, *form, *to]
        environment = environment_for_others()
    return run_to_end(
        command, DEADLINE, environment=environment, folder=folder, errors_only=True
    )


def download_package(pin: ArchivePin, folder: Path) -> Path:
    """Return a package's file with the sha256 of its pin.

    npm runs nothing of a package. pip asks a source archive for its metadata, which
    runs its build backend: pip knows the sha256 too, so that nothing else ever runs.

    Raises:
        Unreachable: the package index or the npm registry does not answer.
        Unavailable: it has no such package, or the client is not installed.
        TemporarilyUnavailable: the client does not end in time.
        CannotCreate: the disk is full.
        WrongDigest: the file has another sha256.
    """
    service, request = pin.kind.publisher, _request(pin)
    client = "npm" if pin.kind is ArchiveKind.NPM else "pip"
    try:
        ended = run_client([pin], folder)
    except subprocess.TimeoutExpired as error:
        message = f"{client} did not end within {DEADLINE:g} seconds"
        raise TemporarilyUnavailable(message, service) from error
    printed = ended.printed
    if _REFUSED in printed:
        message = f"pip refuses {request}, which has not the sha256 {pin.sha256}"
        raise WrongDigest(message, service, "see which index pip asks")
    files = sorted(folder.glob(f"*{Path(pin.file).suffix}"))
    # A client that fails may leave a file that is cut.
    if ended.code or not files:
        # npm begins with the code of the error, and ends with where its log is.
        told = printed.strip().partition("\n")[0] if client == "npm" else printed
        message = f"{client} cannot get {request} ({last_error(told)})"
        if _FULL.search(printed):
            hint = "make room and run the same command"
            raise CannotCreate(message, str(folder), hint)
        answered = not _SILENT.search(printed)
        if client == "npm":
            answered = bool(_UNKNOWN.search(printed))
        raise (Unavailable if answered else Unreachable)(message, service)
    digest = file_digest(files[0])
    if digest != pin.sha256:
        message = f"{request} has sha256 {digest}, the pin says {pin.sha256}"
        raise WrongDigest(message, service, f"see which index {client} asks")
    return files[0]
