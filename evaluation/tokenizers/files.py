"""A tokenizer in the cache: its files, and the encoder of texts.

The bytes of a text's ids are exactly the text's. The model's own encoding is used while
it keeps the text: no special tokens, no leading space, no normalisation. Otherwise
(U+2581 in the text, an unknown character) the longest tokens spell it greedily.
"""

from __future__ import annotations

import base64
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import orjson

from curation.system.errors import BadData
from evaluation.tokenizers.vocabulary import (
    MARKED_SPACES,
    SPACE,
    ParsedTokenizer,
    has_pieces,
    piece_bytes,
    steps_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tokenizers import Tokenizer

#: Stands for a token without bytes: no text has this byte, in UTF-8.
_NO_TEXT: Final = b"\xff"


class Encoder:
    """Encodes texts with one tokenizer, byte for byte.

    Example:
        >>> encoder = Encoder(tokenizer_json, token_bytes, special_ids)
        >>> encoder(["{}"])
        [[6150]]
    """

    __slots__ = ("_bytes", "_ids", "_longest", "_tokenizer")

    def __init__(
        self,
        tokenizer_json: bytes,
        token_bytes: Sequence[bytes | None],
        special_ids: Collection[int],
    ) -> None:
        """Load a tokenizer.

        Args:
            tokenizer_json: The content of its `tokenizer.json`.
            token_bytes: The bytes of every token by id; None for a special one.
            special_ids: The ids of special tokens.

        Raises:
            ImportError: the library `tokenizers` is not installed.
            ValueError: the library gives an added token another id than the file.
        """
        # Said once here, or the library warns of every process started after it.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra

        self._tokenizer: Tokenizer = Tokenizer.from_buffer(plain_json(tokenizer_json))
        _check_ids(self._tokenizer, token_bytes, special_ids)
        self._tokenizer.encode_special_tokens = True
        self._bytes = [
            _NO_TEXT if content is None else content for content in token_bytes
        ]
        self._ids: Mapping[bytes, int] = {}
        self._longest = 0

    def __call__(self, texts: Sequence[str]) -> list[list[int] | None]:
        """Return the ids of every text, None where no tokens spell it."""
        encoded = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [
            ids if self._spell(ids) == text.encode() else self.greedy(text)
            for text, ids in zip(
                texts, (encoding.ids for encoding in encoded), strict=True
            )
        ]

    def _spell(self, ids: Sequence[int]) -> bytes | None:
        try:
            return b"".join([self._bytes[number] for number in ids])
        except IndexError:
            return None

    def greedy(self, text: str) -> list[int] | None:
        """Return the ids of the longest token at every place; None if that fails."""
        if not self._ids:
            tokens = [
                (content, number)
                for number, content in enumerate(self._bytes)
                if content
            ]
            self._ids = dict(reversed(tokens))
            self._longest = max(map(len, self._ids), default=0)
        content = text.encode()
        ids: list[int] = []
        place = 0
        while place < len(content):
            ends = range(min(len(content), place + self._longest), place, -1)
            candidates = (self._ids.get(content[place:end]) for end in ends)
            token = next((number for number in candidates if number is not None), None)
            if token is None:
                return None
            ids.append(token)
            place += len(self._bytes[token])
        return ids


def _check_ids(
    tokenizer: Tokenizer,
    token_bytes: Sequence[bytes | None],
    special_ids: Collection[int],
) -> None:
    """Check that added tokens have the same ids in the library and in the file.

    Raises:
        ValueError: one has not.
    """
    for number, token in tokenizer.get_added_tokens_decoder().items():
        content = token_bytes[number] if number < len(token_bytes) else None
        same = content in {token.content.encode(), piece_bytes(token.content)}
        if not same and number not in special_ids:
            raise ValueError(f"it gives {token.content!r} the id {number} of another")


def plain_json(tokenizer_json: bytes) -> bytes:
    """Return a tokenizer that changes nothing about a text before it cuts it."""
    tokenizer: dict[str, Any] = orjson.loads(tokenizer_json)
    parts = ("pre_tokenizer", "decoder", "normalizer")
    marks_spaces = has_pieces(*(tokenizer.get(part) for part in parts))
    for step in steps_of(tokenizer.get("pre_tokenizer")):
        if step.get("type") == "Metaspace":
            step["prepend_scheme"] = "never"
            step.pop("add_prefix_space", None)
            # It marks spaces itself.
            marks_spaces = False
        elif "add_prefix_space" in step:
            step["add_prefix_space"] = False
    # U+2581 of an added token means a space, but would be looked for as it is.
    added = [
        {
            **token,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "special": token["special"] or SPACE in token["content"],
        }
        for token in tokenizer.get("added_tokens") or ()
    ]
    plain = {
        **tokenizer,
        "truncation": None,
        "padding": None,
        "post_processor": None,
        "normalizer": MARKED_SPACES if marks_spaces else None,
        "added_tokens": added,
    }
    return orjson.dumps(plain)


_TOKENIZER: Final = "tokenizer.json"
_TOKENS: Final = "tokens.json"
_ABOUT: Final = "about.json"


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
        return self.folder / _TOKENIZER

    @property
    def tokens(self) -> Path:
        """A JSON list by id: bytes in base64, null for a special or unused id."""
        return self.folder / _TOKENS

    def token_bytes(self) -> list[bytes | None]:
        """Return the bytes of every token by id; None for a special or unused one."""
        contents = msgspec.json.decode(self.tokens.read_bytes(), type=list[str | None])
        return [
            None if content is None else base64.b64decode(content)
            for content in contents
        ]

    def byte_ids(self) -> list[int]:
        """Return the token of each single byte, by byte; -1 without one."""
        contents = self.token_bytes()
        ids = {
            content: number
            for number, content in reversed(list(enumerate(contents)))
            if content is not None
        }
        return [ids.get(bytes([byte]), -1) for byte in range(256)]

    def encoder(self) -> Encoder:
        """Return the encoder; a text that no tokens here can spell gives None.

        No special tokens, no leading space, no normalisation.

        Raises:
            ImportError: the library `tokenizers` is not installed.
            BadData: it cannot read this tokenizer.
        """
        # Here, so that a library that is absent is not taken for a bad file.
        import tokenizers  # noqa: F401, PLC0415 - an extra

        content = self.tokenizer_json.read_bytes()
        try:
            return Encoder(content, self.token_bytes(), frozenset(self.special_ids))
        except Exception as error:
            # The library raises nothing more special.
            what = f"the library tokenizers cannot read it ({error})"
            raise BadData(what, self.name) from error


def write_files(folder: Path, parsed: ParsedTokenizer, licence: str) -> None:
    """Write a tokenizer's files into a folder that exists."""
    tokens = [
        None if content is None else base64.b64encode(content).decode()
        for content in parsed.token_bytes
    ]
    contents = {
        _TOKENIZER: parsed.tokenizer_json,
        _TOKENS: orjson.dumps(tokens),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    about = {
        "vocab_size": parsed.vocab_size,
        "eos_id": parsed.eos_id,
        "special_ids": parsed.special_ids,
        "licence": licence,
        "digest": _digest(*contents.values()),
    }
    (folder / _ABOUT).write_bytes(orjson.dumps(about))


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
