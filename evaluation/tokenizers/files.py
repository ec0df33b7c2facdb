"""The files of a tokenizer in the cache, made from a `tokenizer.json`.

Two kinds have tokens of certain bytes: byte-level vocabularies, which write each byte
as a character (GPT-2), and pieces of text with U+2581 for a space (SentencePiece).
The library `tokenizers` reads either.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
import orjson

from curation.system.errors import BadData

if TYPE_CHECKING:
    from tokenizers import Tokenizer

#: Bytes that every JSON text of ASCII may hold.
_PRINTABLE: Final = frozenset(range(0x20, 0x7F))
#: No vocabulary has more ids: the largest known have 262,144.
_MAX: Final = 1 << 22
#: Stands for a token without bytes: no text has this byte, in UTF-8.
_NO_TEXT: Final = b"\xff"
#: What SentencePiece writes for a space, and for a byte that no text has.
_SPACE: Final = "▁"
_BYTE: Final = re.compile(r"<0x([0-9A-F]{2})>")
#: The step of a `tokenizer.json` that writes spaces so.
_MARKED_SPACES: Final = {
    "type": "Replace",
    "pattern": {"String": " "},
    "content": _SPACE,
}

_FIRST_OTHER: Final = 0x100
_THEMSELVES: Final = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}


def _alphabet() -> str:
    free = iter(range(_FIRST_OTHER, 2 * _FIRST_OTHER))
    codes = (byte if byte in _THEMSELVES else next(free) for byte in range(256))
    return "".join(map(chr, codes))


#: The character of byte i at index i, in a byte-level vocabulary.
CHARACTERS: Final = _alphabet()
_BYTES: Final = {character: byte for byte, character in enumerate(CHARACTERS)}


def to_bytes(token: str) -> bytes | None:
    """Return the bytes of a byte-level token; None if a character is of no byte."""
    try:
        return bytes(map(_BYTES.__getitem__, token))
    except KeyError:
        return None


def _piece_bytes(piece: str) -> bytes:
    byte = _BYTE.fullmatch(piece)
    return bytes.fromhex(byte[1]) if byte else piece.replace(_SPACE, " ").encode()


TOKENIZER: Final = "tokenizer.json"
_TOKENS: Final = "tokens.json"
_ABOUT: Final = "about.json"
#: Returns the ids of each text, None where no tokens spell it.
Encode: TypeAlias = Callable[[Sequence[str]], list[list[int] | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFiles:
    """The files of one tokenizer, whole and unchanged since they were made."""

    #: As `--tokenizer` names it.
    name: str
    folder: Path
    #: Number of ids that a mask covers: at least the tokens, with a model's padding.
    vocab_size: int
    eos_id: int
    special_ids: tuple[int, ...]
    #: sha256 over the files.
    digest: str
    #: SPDX expression, or `NOASSERTION` where none is declared.
    licence: str

    @property
    def tokenizer_json(self) -> Path:
        """The file that the library `tokenizers` reads."""
        return self.folder / TOKENIZER

    @property
    def tokens(self) -> Path:
        """A JSON list by id: bytes in base64, null for a special or unused id."""
        return self.folder / _TOKENS

    def token_bytes(self) -> list[bytes | None]:
        """Return the bytes of every token by id; None for a special or unused one."""
        return msgspec.json.decode(self.tokens.read_bytes(), type=list[bytes | None])

    def byte_ids(self) -> list[int]:
        """Return the token of each single byte, by byte; -1 without one."""
        ids = {content: number for number, content in enumerate(self.token_bytes())}
        return [ids.get(bytes([byte]), -1) for byte in range(256)]

    def encoder(self) -> Encode:
        """Return the encoder of texts, byte for byte.

        No special tokens, no leading space, no normalisation; a text that is not
        exactly the bytes of its tokens has no ids.
        """
        # Said once here, or the library warns of every process started after it.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra

        content = _plain_json(self.tokenizer_json.read_bytes())
        tokenizer = Tokenizer.from_buffer(content)
        tokenizer.encode_special_tokens = True
        spelled = [content or _NO_TEXT for content in self.token_bytes()]

        def encode(texts: Sequence[str]) -> list[list[int] | None]:
            encoded = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
            ids = [encoding.ids for encoding in encoded]
            return [
                its
                if b"".join([spelled[one] for one in its]) == text.encode()
                else None
                for its, text in zip(ids, texts, strict=True)
            ]

        return encode


def _plain_json(tokenizer_json: bytes) -> bytes:
    """Return a tokenizer that changes nothing about a text before it cuts it."""
    given: dict[str, Any] = orjson.loads(tokenizer_json)
    cuts = json.dumps(given.get("pre_tokenizer"))
    marks_spaces = _has_pieces(given) and "Metaspace" not in cuts
    plain = {
        "truncation": None,
        "padding": None,
        "post_processor": None,
        "normalizer": _MARKED_SPACES if marks_spaces else None,
        "pre_tokenizer": json.loads(cuts, object_hook=_without_prefix),
    }
    return orjson.dumps({**given, **plain})


def _without_prefix(step: dict[str, Any]) -> dict[str, Any]:
    """Return a step of a `tokenizer.json` that puts no space before a text."""
    plain = {"add_prefix_space": False, "prepend_scheme": "never"}
    return {name: plain.get(name, value) for name, value in step.items()}


def _has_pieces(given: Mapping[str, Any]) -> bool | None:
    """Return whether the tokens of a `tokenizer.json` are pieces of text.

    False if every character is one byte; None for another kind.
    """
    parts = ("pre_tokenizer", "decoder", "normalizer")
    steps = json.dumps([given.get(part) for part in parts], ensure_ascii=False)
    if '"ByteLevel"' in steps:
        return False
    marks = ('"Metaspace"', '"ByteFallback"', f'"{_SPACE}"')
    return True if any(mark in steps for mark in marks) else None


class _NamedToken(msgspec.Struct):
    content: str


class TokenizerConfig(msgspec.Struct):
    """What is read of the configs next to a `tokenizer.json`."""

    #: The token that ends an answer, by its text or by its id.
    eos_token: str | _NamedToken | None = None
    eos_token_id: int | list[int] | None = None
    #: Ids that the model scores, padding included.
    vocab_size: int | None = None
    text_config: TokenizerConfig | None = None

    def ends(self, tokenizer: Tokenizer) -> Iterator[int]:
        """Yield the end token's id."""
        match self.eos_token:
            case str(text) | _NamedToken(content=text):
                number = tokenizer.token_to_id(text)
                if number is not None:
                    yield number
        match self.eos_token_id:
            case int(number) | [number, *_]:
                yield number


#: The content of a `tokenizer.json`, and the configs next to it; the first one that
#: names the end token decides.
TokenizerSource: TypeAlias = tuple[bytes, Sequence[TokenizerConfig]]


def write_files(folder: Path, source: TokenizerSource, name: str, licence: str) -> None:
    """Write a tokenizer's files into a folder that exists.

    Args:
        folder: The folder.
        source: What it is read from.
        name: What messages call it.
        licence: SPDX expression.

    Raises:
        BadData: it is no tokenizer, of a kind whose tokens have no bytes, cannot spell
            JSON, has too many ids, or no end token.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415 - an extra

    content, configs = source
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except ValueError as error:
        raise BadData(f"not a tokenizer.json ({error})", name) from error
    token_bytes = _token_bytes(tokenizer, content, name)
    spelled = {it[0] for it in token_bytes if it and len(it) == 1}
    missing = sorted(_PRINTABLE - spelled)
    if missing:
        examples = "".join(map(chr, missing[:10]))
        raise BadData(
            f"it has no token for {len(missing)} ASCII characters ({examples})",
            name,
            "choose a tokenizer that can spell JSON",
        )
    models = [each for it in configs for each in (it, it.text_config) if each]
    sizes = (model.vocab_size or 0 for model in models)
    vocab_size = max(len(token_bytes), *sizes, 0)
    _check_ids(vocab_size - 1, name)
    eos_id = next((end for config in configs for end in config.ends(tokenizer)), None)
    if eos_id is None:
        raise BadData(
            "nothing says which token ends an answer",
            name,
            'put {"eos_token": "..."} into tokenizer_config.json beside it',
        )
    if not 0 <= eos_id < vocab_size:
        raise BadData(f"its end token {eos_id} is none of its ids", name)
    tokens = msgspec.json.encode(token_bytes)
    added = tokenizer.get_added_tokens_decoder().items()
    about = {
        "vocab_size": vocab_size,
        "eos_id": eos_id,
        "special_ids": [number for number, token in added if token.special],
        "licence": licence,
        "digest": _digest(content, tokens),
    }
    (folder / TOKENIZER).write_bytes(content)
    (folder / _TOKENS).write_bytes(tokens)
    (folder / _ABOUT).write_bytes(orjson.dumps(about))


def _check_ids(largest: int, name: str) -> None:
    """Check that ids up to this one can be a vocabulary's."""
    if largest >= _MAX:
        raise BadData("its ids are no ids of a vocabulary", name)


def _token_bytes(tokenizer: Tokenizer, content: bytes, name: str) -> list[bytes | None]:
    """Return the bytes of every token by id; None for a special or unused id."""
    ids = tokenizer.get_vocab(with_added_tokens=False)
    has_pieces = _has_pieces(orjson.loads(content))
    if has_pieces is None or not ids:
        kind = type(tokenizer.model).__name__
        raise BadData(
            f"a tokenizer of kind {kind!r} whose tokens have no certain bytes",
            name,
            "choose a byte-level or SentencePiece one",
        )
    added = tokenizer.get_added_tokens_decoder()
    largest = max([*ids.values(), *added])
    _check_ids(largest, name)
    found: list[bytes | None] = [None] * (largest + 1)
    for text, number in ids.items():
        found[number] = _piece_bytes(text) if has_pieces else to_bytes(text)
    for number, token in added.items():
        text = token.content
        plain = _piece_bytes(text) if has_pieces else text.encode()
        found[number] = None if token.special else plain
    return found


def read_files(folder: Path, name: str) -> TokenizerFiles | None:
    """Return the tokenizer of a folder; None if it is missing or damaged."""
    try:
        about = orjson.loads((folder / _ABOUT).read_bytes())
        files = msgspec.convert(
            {**about, "name": name, "folder": folder}, TokenizerFiles
        )
        digest = _digest(files.tokenizer_json.read_bytes(), files.tokens.read_bytes())
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return files if digest == files.digest else None


def _digest(*contents: bytes) -> str:
    lines = "".join(hashlib.sha256(content).hexdigest() for content in contents)
    return hashlib.sha256(lines.encode()).hexdigest()
