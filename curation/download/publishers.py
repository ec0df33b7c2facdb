"""Asking those who publish an archive."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from curation.download.allowed_hosts import HostPolicy
from curation.download.archives import unpack
from curation.download.pins import ArchiveKind, ArchivePin
from curation.system.atomic_files import writing
from curation.system.checksums import file_digest
from curation.system.errors import (
    BadArchive,
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
    from curation.download.cache import Cache
    from curation.download.http import Network


#: Seconds for one tarball; the one that is pinned has 29 MB.
NPM_DEADLINE: Final = 600.0
_NPM_SERVICE: Final = "the npm registry"
#: npm's codes for a package or a version that an answering registry does not have.
_NPM_UNKNOWN: Final = re.compile(r"\b(?:E404|ETARGET|ENOVERSIONS)\b")


def npm_environment() -> dict[str, str]:
    """Return the environment of npm: its own variables name the user's registry."""
    return environment_for_others() | {
        name: value
        for name, value in os.environ.items()
        if name.lower().startswith("npm_config_")
    }


def download_npm_package(
    pin: ArchivePin, folder: Path, network: Network, cache: Cache
) -> Path:
    """Return a package's tarball, which has the sha256 of its pin, if that has one.

    `npm pack` only downloads: no script of the package is run.

    Raises:
        Unavailable: there is no npm, or it cannot get it.
        TemporarilyUnavailable: npm does not end in time.
        WrongDigest: the registry gives another; it is kept as evidence.
    """
    if _NPM_SERVICE in network.silent:
        raise Unavailable("did not answer before", _NPM_SERVICE)
    program = which("npm")
    if program is None:
        then = f"install npm, or put {pin.file} into a mirror (--mirror)"
        raise Unavailable("there is no npm here", _NPM_SERVICE, then)
    request = f"{pin.repository}@{pin.commit}"
    command = [program, "pack", request, "--ignore-scripts", "--loglevel=error"]
    ended = _run(command, NPM_DEADLINE, npm_environment(), folder, _NPM_SERVICE)
    file = folder / pin.file
    if ended.code or not file.is_file():
        if not _NPM_UNKNOWN.search(ended.printed):
            network.silent.add(_NPM_SERVICE)
        reason = ended.printed.strip().partition("\n")[0] or "it says nothing"
        what = f"npm cannot get {request} ({reason[:300]})"
        raise Unavailable(what, _NPM_SERVICE)
    return _verified(file, pin, request, cache, _NPM_SERVICE)


def _run(
    command: list[str],
    seconds: float,
    environment: dict[str, str],
    folder: Path,
    service: str,
) -> EndedProgram:
    """Run npm or pip to its end or its deadline; what it says on stderr counts."""
    try:
        return run_to_end(
            command, seconds, environment=environment, folder=folder, errors_only=True
        )
    except subprocess.TimeoutExpired as error:
        program = "npm" if service == _NPM_SERVICE else "pip"
        what = f"{program} did not end within {seconds:g} seconds"
        raise TemporarilyUnavailable(what, service) from error


def _verified(
    file: Path, pin: ArchivePin, request: str, cache: Cache, service: str
) -> Path:
    """Return a file that has the sha256 of its pin, if that has one."""
    digest = file_digest(file)
    if pin.sha256 and digest != pin.sha256:
        evidence = cache.refuse(file, f"{digest[:16]}-{file.name}")
        what = f"{request} has sha256 {digest}, the pin says {pin.sha256}"
        raise WrongDigest(what, service, f"refused, kept as {evidence}")
    return file


#: Seconds for one file; the largest has 93 MB.
PIP_DEADLINE: Final = 600.0
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
        Unavailable: pip cannot get it.
        TemporarilyUnavailable: pip does not end in time.
        CannotCreate: there is no room for the file.
        WrongDigest: the index gives another; the file is kept as evidence.
    """
    if _SERVICE in network.silent:
        raise Unavailable("did not answer before", _SERVICE)
    request = f"{pin.repository}=={pin.commit}"
    command = [*pip_command(), *_OPTIONS, *_pip_request(pin, request, folder)]
    ended = _run(command, PIP_DEADLINE, environment_for_others(), folder, _SERVICE)
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
    return _verified(files[0], pin, request, cache, _SERVICE)


def _pip_request(pin: ArchivePin, request: str, folder: Path) -> tuple[str, ...]:
    to = f"--dest={folder}"
    if pin.kind is ArchiveKind.WHEEL:
        return "--only-binary=:all:", to, request
    requirements = folder / "wanted.txt"
    requirements.write_text(f"{request} --hash=sha256:{pin.sha256}\n", encoding="utf-8")
    source = f"--no-binary={pin.repository}"
    return source, "--require-hashes", to, f"--requirement={requirements}"


def pip_command() -> list[str]:
    """Return how pip is called: of this Python, else the one on the path.

    Raises:
        Unavailable: there is none.
    """
    # The finders of setuptools would exchange `distutils` for the whole process.
    if PathFinder.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    program = which("pip") or which("pip3")
    if program is None:
        raise Unavailable("there is no pip here", _SERVICE, "python -m ensurepip")
    return [program]


_GITHUB: Final = "https://codeload.github.com"
_GITHUB_HOSTS: Final = frozenset({"codeload.github.com", "github.com"})
_HUB: Final = "https://huggingface.co"
#: The Hub's own, and those that it keeps large files on.
_HUB_HOSTS: Final = frozenset({"huggingface.co", ".huggingface.co", ".hf.co"})
#: A tarball that arrives cut or damaged is asked for this many times.
_ATTEMPTS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PublisherAddresses:
    """The addresses that a user puts in place of the publishers' own."""

    #: Without a slash at the end; empty for the usual one.
    github: str = ""
    hub: str = ""
    #: Whether the Hub must not be asked.
    hub_offline: bool = False

    @classmethod
    def from_environment(cls) -> PublisherAddresses:
        """Return what the environment names; for commands alone.

        `CSBDATA_GITHUB_BASE`, and the Hub's own `HF_ENDPOINT` and `HF_HUB_OFFLINE`.
        """
        return cls(
            github=os.environ.get("CSBDATA_GITHUB_BASE", "").rstrip("/"),
            hub=os.environ.get("HF_ENDPOINT", "").rstrip("/"),
            hub_offline=os.environ.get("HF_HUB_OFFLINE", "") not in {"", "0"},
        )

    def address(self, pin: ArchivePin) -> tuple[str, HostPolicy]:
        """Return where an archive is published, and the hosts that may be asked."""
        if pin.kind is ArchiveKind.GITHUB:
            url = f"{self.github or _GITHUB}/{pin.repository}/tar.gz/{pin.commit}"
            return url, HostPolicy(hosts=_GITHUB_HOSTS, base=self.github)
        path = f"datasets/{pin.repository}/resolve/{pin.commit}/{quote(pin.file)}"
        policy = HostPolicy(hosts=_HUB_HOSTS, base=self.hub)
        return f"{self.hub or _HUB}/{path}", policy


def fetched(
    pin: ArchivePin,
    network: Network,
    addresses: PublisherAddresses,
    cache: Cache,
    say: Callable[[str], None],
) -> Path:
    """Return the pack of an archive as its publisher gives it.

    The caller holds the archive's lock.

    Raises:
        Unavailable: it cannot be had.
        TemporarilyUnavailable: it cannot be had now.
        WrongDigest: it is not what is pinned; the evidence is kept.
        BadArchive: it cannot be read; the evidence is kept.
    """
    with _folder_of(pin, cache) as folder:
        for attempt in range(1, _ATTEMPTS + 1):
            file = _got(pin, folder, network, addresses, cache, say)
            try:
                return unpack(pin, file, cache)
            except BadArchive as error:
                if attempt == _ATTEMPTS:
                    evidence = cache.refuse(file, file.name)
                    then = f"refused, kept as {evidence}"
                    raise BadArchive(error.what, pin.name, then) from error
                say(f"{pin.name}: {error.what}; asking once more")
    raise AssertionError  # the loop returns or raises


@contextmanager
def downloaded(
    pin: ArchivePin,
    network: Network,
    addresses: PublisherAddresses,
    cache: Cache,
    say: Callable[[str], None],
) -> Iterator[Path]:
    """Give the file of an archive as its publisher gives it; removed at the end.

    It is held against the pin's sha256, where there is one, and not against its
    digest. The caller holds the archive's lock.

    Raises:
        Unavailable: it cannot be had.
        TemporarilyUnavailable: it cannot be had now.
        WrongDigest: it has not the sha256 of the pin.
    """
    with _folder_of(pin, cache) as folder:
        yield _got(pin, folder, network, addresses, cache, say)


@contextmanager
def _folder_of(pin: ArchivePin, cache: Cache) -> Iterator[Path]:
    """Give the folder into which an archive is downloaded; emptied at the end."""
    folder = cache.downloads / pin.name
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        cache.clear_downloads(pin.name)


def _got(  # noqa: PLR0913, PLR0917 (what a download needs)
    pin: ArchivePin,
    folder: Path,
    network: Network,
    addresses: PublisherAddresses,
    cache: Cache,
    say: Callable[[str], None],
) -> Path:
    say(f"{pin.name}: fetching {pin.repository} at {pin.commit}")
    if pin.kind is ArchiveKind.NPM:
        return download_npm_package(pin, folder, network, cache)
    if pin.kind.is_package:
        return download_package(pin, folder, network, cache)
    return _download(pin, folder, network, addresses, say)


def _download(
    pin: ArchivePin,
    folder: Path,
    network: Network,
    addresses: PublisherAddresses,
    say: Callable[[str], None],
) -> Path:
    if pin.kind is ArchiveKind.HUB and addresses.hub_offline:
        raise Unavailable("HF_HUB_OFFLINE is set", pin.name, "unset it")
    url, policy = addresses.address(pin)
    file = folder / pin.file_names[0]
    network.download(url, file, policy, say)
    return file
