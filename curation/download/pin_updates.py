"""Updates of pins: newer states at the publishers, other licences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curation.core.benchmark import is_notice
from curation.download.archives import pack_of
from curation.download.cache import Cache
from curation.download.newest import UpstreamState, newest
from curation.download.packs import SUFFIX, open_pack
from curation.download.pins import ArchivePin, Selection, load_pins
from curation.download.publishers import downloaded
from curation.system.atomic_files import atomic_write_bytes
from curation.system.checksums import file_digest
from curation.system.errors import (
    BadData,
    CsbdataError,
    NoInput,
    TemporarilyUnavailable,
    Unavailable,
)

if TYPE_CHECKING:
    from curation.download.acquire import FetchSettings


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
        if not self.pin.licence_sha256:
            return f"{upstream.licence or 'a text'}, none recorded"
        if self.licence_changed:
            return f"CHANGED: {upstream.licence or 'another text'}"
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
