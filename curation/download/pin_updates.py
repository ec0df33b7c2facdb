"""Updates of pins: newer states at the publishers, other licences.

GitHub and the Hub are requested directly, the package index and the npm registry
through pip and npm, which know the user's own mirrors. Nothing large is fetched to see
what is newest.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote

import msgspec

from curation.core.benchmark import is_notice
from curation.download.allowed_hosts import HostPolicy
from curation.download.archives import pack_of
from curation.download.cache import Cache
from curation.download.packs import SUFFIX, open_pack
from curation.download.pins import ArchiveKind, ArchivePin, Selection, load_pins
from curation.download.publishers import downloaded, npm_environment, pip_command
from curation.system.atomic_files import atomic_write_bytes
from curation.system.checksums import file_digest
from curation.system.errors import (
    BadData,
    CsbdataError,
    NoInput,
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
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PinUpdate:
    """A pin beside what its publisher has now."""

    pin: ArchivePin
    #: None if it could not be told.
    upstream: UpstreamState | None
    #: Why it could not.
    fault: CsbdataError | None = None

    @property
    def is_newer(self) -> bool:
        """Whether the publisher has another state than the pinned one."""
        return self.upstream is not None and self.upstream.commit != self.pin.commit

    @property
    def licence(self) -> str:
        """What is to say of the licence, in a few words; empty where nothing is."""
        upstream = self.upstream
        if upstream is None:
            return ""
        if not upstream.licence_sha256:
            return "CHANGED: none stated" if self.licence_changed else "none stated"
        # Some packages state a whole text.
        name = upstream.licence.partition("\n")[0].strip()
        if not self.pin.licence_sha256:
            return f"{name or 'a text'}, none recorded"
        if self.licence_changed:
            return f"CHANGED: {name or 'another text'}"
        return "as recorded"

    @property
    def licence_changed(self) -> bool:
        """Whether the statement of the licence is not the recorded one.

        No statement is no change: older versions of pip do not report
        `License-Expression`.
        """
        recorded, upstream = self.pin.licence_sha256, self.upstream
        if upstream is None or not recorded:
            return False
        if self.pin.kind.is_package and not upstream.licence_sha256:
            return False
        return upstream.licence_sha256 != recorded


def find_updates(
    pins: Iterable[ArchivePin],
    settings: FetchSettings,
    say: Callable[[str], None] = lambda _message: None,
) -> list[PinUpdate]:
    """Ask the publisher of every pin for its newest state.

    A fault of one publisher is in its update; the others are asked all the same.

    Args:
        pins: The pins.
        settings: Addresses and patience for publishers.
        say: Prints what takes time.
    """
    updates = []
    for pin in pins:
        say(f"{pin.name}: asking {pin.kind.publisher} for the newest {pin.repository}")
        try:
            updates.append(PinUpdate(pin=pin, upstream=newest(pin, settings)))
        except (Unavailable, TemporarilyUnavailable, BadData) as fault:
            updates.append(PinUpdate(pin=pin, upstream=None, fault=fault))
    return updates


_TABLE: Final = r"^\[archive\.{name}\]\n(?:(?!\[).*\n?)*"


def write_new_pins(
    updates: Iterable[PinUpdate],
    file: Path,
    settings: FetchSettings,
    say: Callable[[str], None] = lambda _message: None,
) -> dict[str, CsbdataError]:
    """Fetch what is newer, and write its pins into a file like `raw/sources.toml`.

    A source whose new archive cannot be had, or in which its paths name nothing, keeps
    its pin. The names of licences stay: whether the pin's still holds is for a person
    to say.

    Args:
        updates: What was found.
        file: The file of the pins; it must hold one of each update.
        settings: Where archives are fetched from, and where they are put.
        say: Prints what takes time.

    Returns:
        Why a pin was not written, by its name.

    Raises:
        NoInput: there is no such file.
        CannotCreate: it cannot be written.
    """
    try:
        text = before = file.read_text(encoding="utf-8")
    except OSError as error:
        raise NoInput("cannot be read", str(file)) from error
    faults: dict[str, CsbdataError] = {}
    for update in updates:
        state = update.upstream
        if state is None:
            continue
        values: dict[str, str | Sequence[str]] = {
            "licence_sha256": state.licence_sha256
        }
        if update.is_newer:
            try:
                values |= _values(_new_pin(update, settings, say))
            except CsbdataError as fault:
                faults[update.pin.name] = fault
                continue
        text = _with_values(text, update.pin.name, values)
    if text != before:
        atomic_write_bytes(file, text.encode())
        load_pins(file)
    return faults


def _new_pin(
    update: PinUpdate, settings: FetchSettings, say: Callable[[str], None]
) -> ArchivePin:
    """Return the pin of the newest state, its archive being in the cache.

    Where paths hold the version, they hold the new one.
    """
    old, state = update.pin, update.upstream
    if state is None:
        raise ValueError(old.name)
    patterns = old.paths.patterns
    if old.kind.is_package:
        patterns = tuple(name.replace(old.commit, state.commit) for name in patterns)
    pin_of_new = replace(
        old,
        commit=state.commit,
        file=state.file or old.file,
        sha256=state.sha256,
        paths=Selection(patterns),
    )
    cache = Cache(settings.cache)
    with (
        cache.lock(old.name, say),
        downloaded(
            pin_of_new, settings.network, settings.publishers, cache, say
        ) as file,
    ):
        pack = pack_of(pin_of_new, file, cache)
        sha256 = file_digest(file) if old.sha256 else ""
    files = open_pack(pack)
    if not len(files):
        what = f"the paths of the pin name nothing in {old.repository} {state.commit}"
        raise BadData(what, old.name, "say its new paths by hand")
    texts = tuple(
        f"{files.sha256(path)}  {path}" for path in filter(is_notice, files.paths)
    )
    digest = pack.name.removesuffix(SUFFIX)
    return replace(pin_of_new, digest=digest, sha256=sha256, texts=texts)


def _values(pin: ArchivePin) -> dict[str, str | Sequence[str]]:
    """Return the values of a pin that name its state, by their keys in the file."""
    values: dict[str, str | Sequence[str]] = {
        "version" if pin.kind.is_package else "commit": pin.commit,
        "file": pin.file,
        "sha256": pin.sha256,
        "digest": pin.digest,
        "texts": pin.texts,
    }
    return {key: value for key, value in values.items() if value != ""}


def _with_values(
    text: str, name: str, values: Mapping[str, str | Sequence[str]]
) -> str:
    """Return the text of a file of pins with other values in one of its tables.

    Raises:
        BadData: it has no such table.
    """
    table = re.search(_TABLE.format(name=re.escape(name)), text, re.MULTILINE)
    if table is None:
        raise BadData(f"there is no table [archive.{name}]", "the file of pins")
    content = table[0]
    old = re.search(r'^(?:version|commit) = "(.*)"$', content, re.MULTILINE)
    if old and "version" in values:
        paths = re.search(r"^paths = \[[^]]*\]", content, re.MULTILINE)
        if paths:
            new = paths[0].replace(old[1], str(values["version"]))
            content = content.replace(paths[0], new)
    lines = content.splitlines(keepends=True)
    for key, value in values.items():
        old_one = _place_of(key, lines)
        if value == "" or (not value and old_one is None):
            continue
        line = f"{key} = {json.dumps(value)}\n"
        if old_one is None:
            lines.insert((_place_of("digest", lines) or 0) + 1, line)
        else:
            lines[old_one] = line
    content = "".join(lines)
    return text[: table.start()] + content + text[table.end() :]


def _place_of(key: str, lines: Sequence[str]) -> int | None:
    places = (at for at, line in enumerate(lines) if line.startswith(f"{key} ="))
    return next(places, None)
