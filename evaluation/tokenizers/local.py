"""Tokenizers from files: a folder of the Hub's layout, or one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import orjson

from curation.system.errors import BadData, NoInput
from evaluation.tokenizers.formats.gguf import from_gguf
from evaluation.tokenizers.formats.huggingface_json import from_tokenizer_json
from evaluation.tokenizers.formats.parsed_tokenizer import padded_size
from evaluation.tokenizers.formats.pre_tokenizers import pre_tokenizer
from evaluation.tokenizers.formats.sentencepiece import from_sentencepiece
from evaluation.tokenizers.formats.tiktoken import from_tekken, from_tiktoken

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.tokenizers.formats.parsed_tokenizer import ParsedTokenizer

#: Files that hold a tokenizer, best first: what `huggingface_hub` is asked for too.
TOKENIZER_FILES: Final = (
    "tokenizer.json",
    "tekken.json",
    "*.tiktoken",
    "tokenizer.model",
    "*.model",
    "*.gguf",
)
#: Files that say which token ends an answer, and how far a vocabulary is padded.
CONFIG_FILES: Final = (
    "tokenizer_config.json",
    "generation_config.json",
    "config.json",
)
_END: Final = "<|endoftext|>"
_LARGEST: Final = 256 << 20


class _AddedToken(msgspec.Struct):
    """A token that a config adds."""

    content: str


def tokenizer_file(path: Path) -> Path:
    """Return the file of a folder that holds its tokenizer, or the file itself.

    Raises:
        NoInput: there is none.
    """
    if path.is_file():
        return path
    for pattern in TOKENIZER_FILES:
        for found in sorted(path.glob(pattern)):
            if found.is_file():
                return found
    raise NoInput(f"none of {', '.join(TOKENIZER_FILES)} in it", str(path))


def deciding_files(path: Path) -> list[Path]:
    """Return the files that `read_tokenizer` reads, the tokenizer first."""
    file = tokenizer_file(path)
    beside = (file.parent / name for name in CONFIG_FILES)
    return [file, *(path for path in beside if path.is_file())]


def read_tokenizer(path: Path) -> ParsedTokenizer:
    """Return the tokenizer of a folder or of a file, with the configs beside it.

    Raises:
        NoInput: there is none, or it cannot be read.
        BadData: it is no tokenizer that can be read.
    """
    file = tokenizer_file(path)
    configs = [_config(config) for config in deciding_files(path)[1:]]
    where = str(file)
    try:
        if file.suffix == ".gguf":
            with file.open("rb") as stream:
                return from_gguf(stream, where)
        if file.stat().st_size > _LARGEST:
            raise BadData("too large for a tokenizer", where)
        content = file.read_bytes()
    except OSError as error:
        raise NoInput(error.strerror or type(error).__name__, where) from error
    if file.name.startswith("tekken"):
        return from_tekken(content, where)
    if file.suffix == ".json":
        return from_tokenizer_json(content, configs, where)
    if file.suffix == ".tiktoken" or _is_base64(content):
        return _tiktoken(content, configs, file)
    return from_sentencepiece(content, where)


def _is_base64(content: bytes) -> bool:
    """Return whether a `tokenizer.model` is a tiktoken file, as Llama 3's are."""
    first = content[:80].split(b"\n")[0].split()
    return len(first) == 2 and first[1].isdigit()  # noqa: PLR2004 (bytes and rank)


def _tiktoken(
    content: bytes, configs: list[dict[str, Json]], file: Path
) -> ParsedTokenizer:
    """Read a tiktoken file; its special tokens are those that the configs add."""
    named = (config.get("eos_token") for config in configs)
    eos = next((name for name in named if isinstance(name, str)), _END)
    special = _added_tokens(configs, str(file)) or [eos]
    name = file.name.lower()
    known = (pattern for pattern in ("qwen", "o200k") if pattern in name)
    pattern = next(known, "cl100k")
    return from_tiktoken(
        content,
        split=pre_tokenizer(pattern, str(file)),
        special=special,
        eos=eos,
        vocab_size=padded_size(configs, 0),
        where=str(file),
    )


def _added_tokens(configs: list[dict[str, Json]], where: str) -> list[str]:
    """Return the tokens that the configs add, in the order of their ids."""
    added: dict[int, str] = {}
    try:
        for config in configs:
            given = config.get("added_tokens_decoder") or {}
            tokens = msgspec.convert(given, dict[int, _AddedToken], strict=False)
            added |= {number: token.content for number, token in tokens.items()}
    except ValueError as error:
        what = f"the added_tokens_decoder beside it is broken ({error!r})"
        raise BadData(what, where) from error
    return [added[number] for number in sorted(added)]


def _config(path: Path) -> dict[str, Json]:
    try:
        given = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise BadData(f"cannot be read as JSON ({error})", str(path)) from error
    if not isinstance(given, dict):
        raise BadData("not a JSON object", str(path))
    return given
