"""A tokenizer in the cache: the files that a run and its workers read."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
import orjson

from curation.system.errors import BadConfiguration, BadData
from curation.system.extras import install_extra
from evaluation.tokenizers.encoding import Encoder, plain_json
from evaluation.tokenizers.formats.parsed_tokenizer import VocabularyKind

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.tokenizers.formats.parsed_tokenizer import ParsedTokenizer

_TOKENIZER: Final = "tokenizer.json"
_TOKENS: Final = "tokens.json"
_PLAIN: Final = "encoding.json"
_ABOUT: Final = "about.json"


class _About(msgspec.Struct):
    """What `about.json` says of the tokenizer beside it."""

    kind: VocabularyKind
    vocab_size: int
    eos_id: int
    special_ids: tuple[int, ...]
    #: SPDX expression, or `NOASSERTION`.
    licence: str
    #: sha256 over the other files.
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFiles:
    """The files of one tokenizer, whole and unchanged since they were made."""

    #: As `--tokenizer` names it.
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
    #: SPDX expression, or `NOASSERTION` where none is declared.
    licence: str

    def token_bytes(self) -> list[bytes | None]:
        """Return the bytes of every token by id; None for a special or unused one."""
        contents = msgspec.json.decode(self.tokens.read_bytes(), type=list[str | None])
        return [
            None if content is None else base64.b64decode(content)
            for content in contents
        ]

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
                then=install_extra("eval"),
            ) from error
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
        _PLAIN: plain_json(parsed.tokenizer_json),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    about = _About(
        kind=parsed.kind,
        vocab_size=parsed.vocab_size,
        eos_id=parsed.eos_id,
        special_ids=parsed.special_ids,
        licence=licence,
        digest=_digest(*contents.values()),
    )
    (folder / _ABOUT).write_bytes(msgspec.json.encode(about))


def read_files(folder: Path, name: str) -> TokenizerFiles | None:
    """Return the tokenizer of a folder; None if there is none, or it is damaged."""
    try:
        about = msgspec.json.decode((folder / _ABOUT).read_bytes(), type=_About)
        names = (_TOKENIZER, _TOKENS, _PLAIN)
        digest = _digest(*((folder / file).read_bytes() for file in names))
    except (OSError, ValueError):
        return None
    if digest != about.digest:
        return None
    return TokenizerFiles(
        name=name,
        kind=about.kind.value,
        folder=folder,
        tokenizer_json=folder / _TOKENIZER,
        tokens=folder / _TOKENS,
        vocab_size=about.vocab_size,
        eos_id=about.eos_id,
        special_ids=about.special_ids,
        digest=digest,
        licence=about.licence,
    )


def _digest(*contents: bytes) -> str:
    lines = "".join(hashlib.sha256(content).hexdigest() for content in contents)
    return hashlib.sha256(lines.encode()).hexdigest()
