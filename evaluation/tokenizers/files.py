"""A tokenizer in the cache: what the driver and a worker need of it, as files."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import orjson

from curation.system.errors import BadConfiguration, BadData
from evaluation.tokenizers.encoding import Encoder, plain_json
from evaluation.tokenizers.formats.parsed_tokenizer import VocabularyKind

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.tokenizers.formats.parsed_tokenizer import ParsedTokenizer

_TOKENIZER: Final = "tokenizer.json"
_TOKENS: Final = "tokens.json"
_PLAIN: Final = "encoding.json"
_ABOUT: Final = "about.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFiles:
    """One tokenizer, whole and unchanged since it was made."""

    #: What the user called it.
    name: str
    #: `byte_level`, `sentencepiece` or `tiktoken`.
    kind: str
    folder: Path
    tokenizer_json: Path
    #: A JSON list by id: a token's bytes in base64, null for a special or unused id.
    tokens: Path
    #: Number of ids that a mask covers: at least the tokens, with a model's padding.
    vocab_size: int
    eos_id: int
    special_ids: tuple[int, ...]
    #: sha256 over the files.
    digest: str
    #: SPDX expression, or `NOASSERTION` where nobody says.
    licence: str

    def token_bytes(self) -> list[bytes | None]:
        """Return the bytes of every token by id; None for a special or unused one."""
        given = orjson.loads(self.tokens.read_bytes())
        return [None if each is None else base64.b64decode(each) for each in given]

    def encoder(self) -> Encoder:
        """Return what turns texts into ids whose bytes are exactly the text's.

        No special tokens, no space put before, no normalisation; None for a text
        that no tokens of this vocabulary spell.

        Raises:
            BadConfiguration: the library `tokenizers` is not installed.
            BadData: it cannot read this tokenizer.
        """
        try:
            plain = (self.folder / _PLAIN).read_bytes()
            return Encoder(plain, self.token_bytes(), frozenset(self.special_ids))
        except ImportError as error:
            raise BadConfiguration(
                "encoding texts needs the library tokenizers",
                then="pip install 'csbdata[eval]'",
            ) from error
        except Exception as error:
            # The library raises nothing more special.
            what = f"the library tokenizers cannot read it ({error})"
            raise BadData(what, self.name) from error


def write_files(folder: Path, parts: ParsedTokenizer, licence: str) -> None:
    """Write a tokenizer's files into a folder that exists."""
    tokens = [
        None if each is None else base64.b64encode(each).decode()
        for each in parts.token_bytes
    ]
    contents = {
        _TOKENIZER: parts.tokenizer_json,
        _TOKENS: orjson.dumps(tokens),
        _PLAIN: plain_json(parts.tokenizer_json),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    about = {
        "kind": parts.kind.value,
        "vocab_size": parts.vocab_size,
        "eos_id": parts.eos_id,
        "special_ids": list(parts.special_ids),
        "licence": licence,
        "digest": _digest(*contents.values()),
    }
    (folder / _ABOUT).write_bytes(orjson.dumps(about))


def read_files(folder: Path, name: str) -> TokenizerFiles | None:
    """Return the tokenizer of a folder; None if there is none, or it is damaged."""
    try:
        about = orjson.loads((folder / _ABOUT).read_bytes())
        found = _digest(
            *((folder / each).read_bytes() for each in (_TOKENIZER, _TOKENS, _PLAIN))
        )
        if found != about["digest"]:
            return None
        return TokenizerFiles(
            name=name,
            kind=VocabularyKind(about["kind"]).value,
            folder=folder,
            tokenizer_json=folder / _TOKENIZER,
            tokens=folder / _TOKENS,
            vocab_size=int(about["vocab_size"]),
            eos_id=int(about["eos_id"]),
            special_ids=tuple(about["special_ids"]),
            digest=found,
            licence=str(about["licence"]),
        )
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _digest(*contents: bytes) -> str:
    lines = "".join(hashlib.sha256(each).hexdigest() for each in contents)
    return hashlib.sha256(lines.encode()).hexdigest()
