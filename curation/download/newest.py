"""The newest state of an archive at its publisher; nothing large is fetched.

GitHub and the Hub are requested directly, the package index and the npm registry
through pip and npm, which know the user's own mirrors.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote

import msgspec

from curation.download.allowed_hosts import HostPolicy
from curation.download.pins import ArchiveKind, ArchivePin
from curation.download.publishers import npm_environment, pip_command
from curation.system.errors import (
    BadData,
    NoLongerThere,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.system.programs import environment_for_others, last_error, run_to_end

if TYPE_CHECKING:
    from curation.download.acquire import FetchSettings

_T = TypeVar("_T")
_GITHUB: Final = "https://api.github.com"
_HUB: Final = "https://huggingface.co"
#: Seconds for pip or npm to say what there is.
_DEADLINE: Final = 120.0
#: Bytes of an answer; a repository's licence is the longest.
_MOST: Final = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamState:
    """What a publisher says of the newest state of one archive."""

    #: Commit or revision; of a package the version.
    commit: str
    #: Day of the commit, `YYYY-MM-DD`; empty where the publisher does not say.
    day: str = ""
    #: The published file's name and its sha256, where they are told.
    file: str = ""
    sha256: str = ""
    #: How the publisher names the licence; empty where it names none.
    licence: str = ""
    #: sha256 of the publisher's own statement of it: of a repository the text of its
    #: licence file, else the words in the metadata. Empty where there is none.
    licence_sha256: str = ""


class _Person(msgspec.Struct):
    date: str = ""


class _CommitDetails(msgspec.Struct):
    committer: _Person


class _Commit(msgspec.Struct):
    sha: str
    commit: _CommitDetails


class _LicenceName(msgspec.Struct):
    spdx_id: str | None = None


class _Licence(msgspec.Struct):
    content: str
    license: _LicenceName | None = None


class _CardData(msgspec.Struct):
    license: str | list[str] | None = None


class _Dataset(msgspec.Struct, rename={"last_modified": "lastModified"}):
    sha: str
    last_modified: str = ""
    card_data: _CardData | None = msgspec.field(default=None, name="cardData")


class _Hashes(msgspec.Struct):
    hashes: dict[str, str] = {}


class _Download(msgspec.Struct):
    url: str
    archive_info: _Hashes = msgspec.field(default_factory=_Hashes)


class _Metadata(msgspec.Struct):
    version: str
    license: str = ""
    license_expression: str = ""
    classifier: list[str] = []


class _Installable(msgspec.Struct):
    download_info: _Download
    metadata: _Metadata


class _PipReport(msgspec.Struct):
    install: list[_Installable]


class _NpmPackage(msgspec.Struct):
    version: str
    license: str = ""


def newest(pin: ArchivePin, settings: FetchSettings) -> UpstreamState:
    """Return the newest state of a pinned archive.

    Args:
        pin: Which archive; only its kind and its name count.
        settings: Addresses and patience for publishers.

    Raises:
        Unavailable: it cannot be told.
        TemporarilyUnavailable: it cannot be told now.
        BadData: the answer is not what such a publisher gives.
    """
    if settings.offline:
        raise Unavailable("the network is not asked", pin.name, "leave out --offline")
    with tempfile.TemporaryDirectory(prefix="csbdata-update-") as name:
        folder = Path(name)
        if pin.kind is ArchiveKind.GITHUB:
            return _on_github(pin, settings, folder)
        if pin.kind is ArchiveKind.HUB:
            return _on_the_hub(pin, settings, folder)
        if pin.kind is ArchiveKind.NPM:
            return _in_npm(pin, folder)
        return _in_the_index(pin, folder)


def _on_github(pin: ArchivePin, settings: FetchSettings, folder: Path) -> UpstreamState:
    base = settings.publishers.github
    policy = HostPolicy(hosts=frozenset({"api.github.com"}), base=base)
    place = f"{base or _GITHUB}/repos/{pin.repository}"
    head = _response_of(f"{place}/commits/HEAD", policy, settings, folder, _Commit)
    try:
        licence = _response_of(f"{place}/license", policy, settings, folder, _Licence)
        text = base64.b64decode(licence.content)
    except NoLongerThere:
        # GitHub has found no licence file.
        return UpstreamState(commit=head.sha, day=head.commit.committer.date[:10])
    except binascii.Error as error:
        raise BadData("its licence is no base 64", f"{place}/license") from error
    named = licence.license.spdx_id if licence.license else None
    return UpstreamState(
        commit=head.sha,
        day=head.commit.committer.date[:10],
        licence=named or "",
        licence_sha256=hashlib.sha256(text).hexdigest(),
    )


def _on_the_hub(
    pin: ArchivePin, settings: FetchSettings, folder: Path
) -> UpstreamState:
    if settings.publishers.hub_offline:
        raise Unavailable("HF_HUB_OFFLINE is set", pin.name, "unset it")
    base = settings.publishers.hub
    policy = HostPolicy(hosts=frozenset({"huggingface.co"}), base=base)
    url = f"{base or _HUB}/api/datasets/{quote(pin.repository)}"
    dataset = _response_of(url, policy, settings, folder, _Dataset)
    licence = dataset.card_data.license if dataset.card_data else None
    words = ", ".join(licence) if isinstance(licence, list) else licence or ""
    return UpstreamState(
        commit=dataset.sha,
        day=dataset.last_modified[:10],
        file=pin.file,
        licence=words,
        licence_sha256=_of_words(words),
    )


def _in_the_index(pin: ArchivePin, folder: Path) -> UpstreamState:
    service = pin.kind.publisher
    if pin.kind is ArchiveKind.SDIST:
        what = "pip would have to run a source archive to tell its newest version"
        raise Unavailable(what, pin.name, "look at its project's page")
    command = [*pip_command(), "install", "--dry-run", "--ignore-installed"]
    command += ["--no-deps", "--only-binary=:all:", "--no-input", "--quiet"]
    command += ["--disable-pip-version-check", "--timeout=10", "--retries=1"]
    report = folder / "report.json"
    command += [f"--report={report}", pin.repository]
    _run(command, folder, service, "pip", environment_for_others())
    answer = _read(report.read_bytes(), _PipReport, service)
    if not answer.install:
        raise BadData("pip's report names no package", service)
    package = answer.install[0]
    metadata = package.metadata
    names = [name for name in metadata.classifier if name.startswith("License ::")]
    words = metadata.license_expression or metadata.license or "; ".join(names)
    return UpstreamState(
        commit=metadata.version,
        file=package.download_info.url.rpartition("/")[2],
        sha256=package.download_info.archive_info.hashes.get("sha256", ""),
        licence=words,
        licence_sha256=_of_words(words),
    )


def _in_npm(pin: ArchivePin, folder: Path) -> UpstreamState:
    service, program = pin.kind.publisher, which("npm")
    if program is None:
        raise Unavailable("there is no npm here", service, "install npm")
    command = [program, "view", pin.repository, "version", "license", "--json"]
    printed = _run([*command, "--silent"], folder, service, "npm", npm_environment())
    package = _read(printed.encode(), _NpmPackage, service)
    scoped = pin.repository.removeprefix("@").replace("/", "-")
    return UpstreamState(
        commit=package.version,
        file=f"{scoped}-{package.version}.tgz",
        licence=package.license,
        licence_sha256=_of_words(package.license),
    )


def _response_of(
    url: str, policy: HostPolicy, settings: FetchSettings, folder: Path, kind: type[_T]
) -> _T:
    file = folder / "answer.json"
    settings.network.download(url, file, policy, lambda _message: None)
    if file.stat().st_size > _MOST:
        raise BadData(f"answers more than {_MOST:,} bytes", url)
    return _read(file.read_bytes(), kind, url)


def _read(content: bytes, kind: type[_T], place: str) -> _T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadData(f"no answer that can be read: {error}", place) from error


def _run(
    command: Sequence[str],
    folder: Path,
    service: str,
    name: str,
    environment: Mapping[str, str],
) -> str:
    try:
        ended = run_to_end(command, _DEADLINE, environment=environment, folder=folder)
    except subprocess.TimeoutExpired as error:
        what = f"{name} did not end within {_DEADLINE:g} seconds"
        raise TemporarilyUnavailable(what, service, "try again later") from error
    if ended.code:
        what = f"{name} cannot tell ({last_error(ended.printed)})"
        raise Unavailable(what, service, "try again later")
    return ended.printed


def _of_words(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest() if words else ""
