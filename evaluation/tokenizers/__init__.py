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
from typing import TYPE_CHECKING, Final

import msgspec

from curation.download.cache import Cache, FolderName
from curation.system.errors import BadData, NoInput
from curation.system.registry import closest_names
from curation.system.user_files import existing_path, file_digest, reading, refuse_large
from evaluation.tokenizers.files import (
    TOKENIZER,
    TokenizerConfig,
    TokenizerFiles,
    TokenizerSource,
    read_files,
    write_files,
)
from evaluation.tokenizers.wheels import (
    BYTES,
    pinned_tokenizers,
    read_pinned,
    single_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curation.download.cache import FetchSettings

__all__ = [
    "BYTES",
    "DEFAULT",
    "TokenizerFiles",
    "get_tokenizer",
    "token_counter",
    "tokens_at_most",
]

#: Files with the end token of an answer, and the padding of a vocabulary.
_CONFIGS: Final = ("tokenizer_config.json", "generation_config.json", "config.json")
#: What is measured with by default.
DEFAULT: Final = "smollm2"
#: Raised when the same source makes other files.
_VERSION: Final = "4"
_UNSAFE: Final = re.compile(r"[^\w.-]+")


def get_tokenizer(
    name: str,
    settings: FetchSettings,
    log: Callable[[str], None] = lambda _message: None,
) -> TokenizerFiles:
    """Return a tokenizer: known by name, a folder or file, or a model on the Hub.

    Args:
        name: `smollm2`, `llama3.1` or `bytes`; or a path that
            exists; or `owner/name` or `owner/name@revision` on the Hub.
        settings: Where the cache is, and how things are fetched.
        log: Called with slow steps, and with the terms of a licence when a
            tokenizer that has some is first made.

    Raises:
        NoInput: no such tokenizer.
        BadData: it is not usable for measurements.
        CsbdataError: it cannot be fetched, or the cache cannot be written.

    Example:
        >>> get_tokenizer("smollm2", FetchSettings.from_environment()).vocab_size
        49152
    """
    pinned = pinned_tokenizers().get(name)
    licence = "NOASSERTION"
    make: Callable[[], TokenizerSource]
    if pinned is not None:
        source, licence = msgspec.json.encode(pinned).decode(), pinned.licence
        make = partial(read_pinned, pinned, settings, log)
    elif name == BYTES:
        source, make = name, single_bytes
    else:
        files = _deciding_files(existing_path(name) or _hub_folder(name))
        with reading(files[0]):
            sums = [f"{file.name} {file_digest(file)}" for file in files]
        source, make = "\n".join(sums), partial(_read_folder, files)
    decisive = f"{_VERSION}\n{source}\n{licence}"
    label = _UNSAFE.sub("-", Path(name).name if "/" in name else name).strip(".-")
    return Cache(settings.cache).folder_made_once(
        FolderName(
            kind="tokenizer",
            label=label or "tokenizer",
            fingerprint=hashlib.sha256(decisive.encode()).hexdigest()[:16],
        ),
        read=lambda folder: read_files(folder, name),
        make=lambda folder: write_files(folder, make(), name, licence),
        log=log,
    )


def _hub_folder(name: str) -> Path:
    """Return the folder with the tokenizer files of a model on the Hub.

    Raises:
        CsbdataError: as `curation.download.huggingface.hub_snapshot`.
    """
    from curation.core.hub_names import model_name  # noqa: PLC0415 - not for folders

    model = model_name(name)
    if not model:
        known = [*pinned_tokenizers(), BYTES]
        hint = f"known: {', '.join(known)}; or give a path, or owner/name on the Hub"
        for alike in closest_names(name, known, most=1):
            hint = f"did you mean {alike}?"
        raise NoInput("no such tokenizer", name, hint)
    from curation.download.huggingface import hub_snapshot  # noqa: PLC0415 - heavy, rarely asked

    return hub_snapshot(
        model.name, model.revision, (TOKENIZER, *_CONFIGS), kind="model"
    )


def _deciding_files(path: Path) -> list[Path]:
    """Return the files that a tokenizer is read from, `tokenizer.json` first."""
    file = path if path.is_file() else path / TOKENIZER
    if not file.is_file():
        raise NoInput(f"no {TOKENIZER} in it", str(path))
    beside = (file.parent / name for name in _CONFIGS)
    return [file, *(path for path in beside if path.is_file())]


def _read_folder(files: Sequence[Path]) -> TokenizerSource:
    contents = []
    for file in files:
        with reading(file):
            contents.append(refuse_large(file).read_bytes())
    configs = []
    for file, content in zip(files[1:], contents[1:], strict=True):
        try:
            configs.append(msgspec.json.decode(content, type=TokenizerConfig))
        except (ValueError, RecursionError) as error:
            raise BadData(f"not a config of a model ({error})", str(file)) from error
    return contents[0], configs


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
