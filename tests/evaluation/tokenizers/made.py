"""Tiny tokenizers of every kind, made by the tests that need them."""

from __future__ import annotations

import base64
import json
import struct
from typing import TYPE_CHECKING

import msgspec
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from evaluation.tokenizers.files import read_files, write_files
from evaluation.tokenizers.wheels import from_tiktoken, pinned_tokenizers
from tests.evaluation.known import known

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evaluation.tokenizers import TokenizerFiles
    from evaluation.tokenizers.files import TokenizerSource

#: What the tiny vocabularies are learned from.
TEXTS = [
    '{"name": "a person", "age": 12, "tags": ["one", "two"], "nested": {"ok": true}}',
    '{"type": "object", "properties": {"name": {"type": "string"}}}',
    '{"caf\u00e9": "na\u00efve \u65e5\u672c\u8a9e", "list": [1, 2.5, null, false]}',
] * 4
END = "<|end|>"
#: An added token that is no special one: part of what a model may say.
ADDED = "<call>"


def byte_level(folder: Path, *, padding: int = 0) -> Path:
    """Write a byte-level tokenizer into a folder, as the Hub lays one out."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|start|>", END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.add_tokens([ADDED])
    return _laid_out(folder, tokenizer, padding)


def metaspace(folder: Path, *, padding: int = 0) -> Path:
    """Write a `tokenizer.json` of SentencePiece's kind, which puts a space before."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="always")]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=500,
        special_tokens=["<unk>", END, *(f"<0x{byte:02X}>" for byte in range(256))],
        initial_alphabet=list(map(chr, range(0x20, 0x7F))),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    given = json.loads(tokenizer.to_str())
    given["added_tokens"] = given["added_tokens"][:2]
    return _laid_out(folder, Tokenizer.from_str(json.dumps(given)), padding)


def _laid_out(folder: Path, tokenizer: Tokenizer, padding: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"eos_token": {"content": END}, "clean_up_tokenization_spaces": 0})
    )
    size = tokenizer.get_vocab_size() + padding
    (folder / "config.json").write_text(json.dumps({"vocab_size": size}))
    return folder


def ranks() -> list[bytes]:
    """Return the tokens of a tiny vocabulary of bytes, in the order of merging."""
    longer = [b"th", b'":', b' "', b"\xc3\xa9", b"ab", b"abc", b"the"]
    longer += [b"\xe6\x97", b'{"']
    return [bytes([byte]) for byte in range(256)] + longer


def tiktoken(folder: Path) -> Path:
    """Write a tiktoken file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tiny.tiktoken"
    path.write_bytes(
        b"".join(
            b"%s %d\n" % (base64.b64encode(token), rank)
            for rank, token in enumerate(ranks())
        )
    )
    return path


def list_files(folder: Path, source: TokenizerSource) -> TokenizerFiles:
    """Write a tokenizer's files; return them read again."""
    folder.mkdir(parents=True, exist_ok=True)
    write_files(folder, source, "made", "MIT")
    return known(read_files(folder, "made"))


def tiktoken_files(folder: Path) -> TokenizerFiles:
    """Return the files of a tiktoken vocabulary with one special token."""
    file = tiktoken(folder)
    pinned = msgspec.structs.replace(
        pinned_tokenizers()["llama3.1"],
        special=["<|endoftext|>"],
        filler_range=(0, 0),
        eos="<|endoftext|>",
        vocab_size=0,
    )
    return list_files(folder / "files", from_tiktoken(file, pinned))


def gguf(path: Path, keys: Sequence[tuple[str, object]]) -> Path:
    """Write the front of a GGUF file: strings, integers and lists of those."""
    path.parent.mkdir(parents=True, exist_ok=True)
    front = b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys))
    body = b"".join(_string(key) + _typed(value) for key, value in keys)
    path.write_bytes(front + body)
    return path


def byte_level_gguf(path: Path, source: Path) -> Path:
    """Write a byte-level tokenizer as a GGUF file has it."""
    given = json.loads((source / "tokenizer.json").read_bytes())
    tokens = {**given["model"]["vocab"]}
    tokens |= {each["content"]: each["id"] for each in given["added_tokens"]}
    in_order = sorted(tokens, key=tokens.__getitem__)
    types = {
        each["content"]: 3 if each["special"] else 4 for each in given["added_tokens"]
    }
    return gguf(
        path,
        [
            ("tokenizer.ggml.model", "gpt2"),
            ("tokenizer.ggml.tokens", in_order),
            ("tokenizer.ggml.token_type", [types.get(each, 1) for each in in_order]),
            (
                "tokenizer.ggml.merges",
                [" ".join(each) for each in given["model"]["merges"]],
            ),
            ("tokenizer.ggml.eos_token_id", tokens[END]),
        ],
    )


def _string(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _typed(value: object) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _string(value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, list) and isinstance(value[0], str):
        head = struct.pack("<IIQ", 9, 8, len(value))
        return head + b"".join(map(_string, value))
    assert isinstance(value, list)
    return struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
