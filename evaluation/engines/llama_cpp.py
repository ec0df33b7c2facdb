"""llama.cpp grammars: JSON Schema to GBNF, masks by llama.cpp's own sampler.

No weights are needed: the sampler works over a vocabulary-only model, written here. The
conversion is llama-cpp-python's. A sampler that takes a token outside its mask throws
through ctypes and ends the process, so `commit` checks the mask first.
"""

from __future__ import annotations

import ctypes
import json
import logging
import re
import struct
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evaluation.core.engine_protocol import Tokenizer

ABOUT = {
    "distribution": "llama-cpp-python",
    "summary": "JSON Schema to GBNF, masks by llama.cpp's own sampler",
    "licence": "MIT",
    "homepage": "https://github.com/ggml-org/llama.cpp",
    "install": "llama-cpp-python",
    "checks_commit": False,
}
OPTIONS = {
    # The right side of the grammar's rule `space`; null for the converter's own.
    "whitespace": "str|null",
    # Names of members, comma-separated, that come before all others.
    "property_order": "str",
}
PRESETS = {
    "faithful": {"whitespace": "[ \\t\\n\\r]*", "property_order": ""},
    "vendor": {"whitespace": None, "property_order": ""},
    "paper": {"whitespace": None, "property_order": ""},
}
_SPACE = re.compile(r"^space ::= .*$", re.MULTILINE)
_NORMAL, _UNKNOWN, _CONTROL, _UNUSED, _BYTE = 1, 2, 3, 5, 6
_UINT32, _BOOL, _STRING, _ARRAY, _INT32, _FLOAT32 = 4, 7, 8, 9, 5, 6


def grammar_text(schema: str, options: Mapping[str, Any]) -> str:
    """Return the GBNF of a schema; the converter's exceptions are passed on."""
    from llama_cpp import llama_grammar

    order = [name for name in options["property_order"].split(",") if name]
    text: str = llama_grammar.json_schema_to_gbnf(schema, *([order] if order else []))
    if options["whitespace"] is not None:
        rule = f"space ::= {options['whitespace']}"
        text = _SPACE.sub(lambda _: rule, text)
    return text


class Engine:
    """A vocabulary in llama.cpp, and a sampler for every grammar."""

    def __init__(self, tokenizer: Tokenizer, options: Mapping[str, Any]) -> None:
        """Load the vocabulary.

        Raises:
            RuntimeError: llama.cpp does not take the vocabulary.
        """
        import llama_cpp
        import numpy

        self.version = version("llama-cpp-python")
        self.vocab_size = tokenizer.vocab_size
        self.eos_id = tokenizer.eos_id
        self.library = llama_cpp
        self.numpy = numpy
        self._options = options
        parameters = llama_cpp.llama_model_default_params()
        parameters.vocab_only = True
        # Its messages on the vocabulary are ignored, its later warnings are not.
        log = logging.getLogger("llama-cpp-python")
        log.setLevel(logging.ERROR)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "vocabulary.gguf"
            path.write_bytes(b"".join(vocabulary(tokenizer)))
            self._model = llama_cpp.llama_model_load_from_file(
                str(path).encode(), parameters
            )
        log.setLevel(logging.WARNING)
        if not self._model:
            raise RuntimeError("llama.cpp does not load this vocabulary")
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self.size = llama_cpp.llama_vocab_n_tokens(self._vocab)

    def compile(self, schema: str) -> Sampler:
        """Return a sampler for the schema's grammar.

        Raises:
            ValueError: llama.cpp cannot parse the grammar it was converted to.
        """
        text = grammar_text(schema, self._options)
        grammar = self.library.llama_sampler_init_grammar(
            self._vocab, text.encode(), b"root"
        )
        if not grammar:
            raise ValueError("llama.cpp cannot parse the grammar of this schema")
        return Sampler(self.library, grammar)

    def start(self, grammar: Sampler) -> Matcher:
        """Return a matcher at the beginning."""
        return Matcher(self, Sampler(self.library, grammar.clone()))


class Sampler:
    """A sampler of the library, freed with this object."""

    def __init__(self, library: Any, pointer: Any) -> None:  # noqa: ANN401 - types of the engine
        """Own the pointer."""
        self.pointer = pointer
        self._library = library

    def clone(self) -> Any:  # noqa: ANN401 - a pointer
        """Return a copy in the same state."""
        return self._library.llama_sampler_clone(self.pointer)

    def __del__(self) -> None:
        """Give the memory back."""
        self._library.llama_sampler_free(self.pointer)


class Matcher:
    """One text under one grammar."""

    def __init__(self, engine: Engine, sampler: Sampler) -> None:
        """Begin a text."""
        library = engine.library
        numpy = engine.numpy
        self._engine = engine
        self._sampler = sampler
        kinds = [("id", numpy.int32), ("logit", numpy.float32), ("p", numpy.float32)]
        self._tokens = numpy.zeros(engine.size, dtype=kinds)
        self._tokens["id"] = numpy.arange(engine.size)
        self._bits: bytes | None = None
        self._array = library.llama_token_data_array(
            data=self._tokens.ctypes.data_as(library.llama_token_data_p),
            size=engine.size,
            selected=-1,
            sorted=False,
        )

    def mask(self) -> bytes:
        """Return the allowed tokens; the end token is among them where it may end."""
        numpy = self._engine.numpy
        self._tokens["logit"] = 0.0
        self._engine.library.llama_sampler_apply(
            self._sampler.pointer, ctypes.byref(self._array)
        )
        allowed = self._tokens["logit"] == 0.0
        packed: bytes = numpy.packbits(allowed, bitorder="little").tobytes()
        self._bits = packed.ljust((self._engine.vocab_size + 31) // 32 * 4, b"\0")
        return self._bits

    def commit(self, token: int) -> bool:
        """Take a token that the mask allows; any other would end the process."""
        bits = self.mask() if self._bits is None else self._bits
        if not bits[token // 8] >> token % 8 & 1:
            return False
        self._engine.library.llama_sampler_accept(self._sampler.pointer, token)
        self._bits = None
        return True

    def may_end(self) -> bool:
        """Return whether the mask allows the end token."""
        eos = self._engine.eos_id
        return bool(self.mask()[eos // 8] >> eos % 8 & 1)


def vocabulary(tokenizer: Tokenizer) -> Iterator[bytes]:
    """Yield a GGUF file (version 3) with a vocabulary and no tensor.

    Byte-level vocabularies are llama.cpp's `gpt2`, whose tokens are spelled with one
    letter a byte; one with two tokens of the same bytes (single bytes and letters,
    as SentencePiece has them) is its `llama`.
    """
    contents = [content for content in tokenizer.token_bytes if content]
    twice = len(set(contents)) < len(contents)
    spelled = _pieces(tokenizer) if twice else _letters(tokenizer)
    names, kinds = zip(*spelled, strict=True)
    pairs = [
        _pair("general.architecture", _STRING, _text("llama")),
        _pair("tokenizer.ggml.model", _STRING, _text("llama" if twice else "gpt2")),
        _pair(
            "tokenizer.ggml.pre", _STRING, _text("default" if twice else "llama-bpe")
        ),
        _list("tokenizer.ggml.tokens", _STRING, [_text(name) for name in names]),
        _list("tokenizer.ggml.token_type", _INT32, [_word(kind) for kind in kinds]),
        _pair("tokenizer.ggml.eos_token_id", _UINT32, _word(tokenizer.eos_id)),
        _pair("tokenizer.ggml.add_bos_token", _BOOL, b"\0"),
    ]
    if twice:
        scores = [struct.pack("<f", 0.0)] * len(names)
        pairs.append(_list("tokenizer.ggml.scores", _FLOAT32, scores))
    else:
        pairs.append(_list("tokenizer.ggml.merges", _STRING, []))
    yield b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs))
    yield from pairs


def _letters(tokenizer: Tokenizer) -> Iterator[tuple[str, int]]:
    """Yield every token with a letter a byte, and what kind it is."""
    letters = _alphabet()
    names = _special_names(tokenizer)
    for index, content in enumerate(tokenizer.token_bytes):
        if content and index not in names:
            yield "".join(letters[byte] for byte in content), _NORMAL
        elif index in names:
            yield names[index], _CONTROL
        else:
            yield f"<|unused_{index}|>", _UNUSED


def _pieces(tokenizer: Tokenizer) -> Iterator[tuple[str, int]]:
    """Yield every token as SentencePiece spells it, and what kind it is."""
    names = _special_names(tokenizer)
    singles: set[bytes] = set()
    for index, content in enumerate(tokenizer.token_bytes):
        if index in names:
            yield names[index], _CONTROL
        elif not content:
            yield f"<unused_{index}>", _UNUSED
        elif len(content) == 1 and content not in singles:
            singles.add(content)
            yield f"<0x{content[0]:02X}>", _BYTE
        else:
            yield content.decode(errors="replace").replace(" ", "\u2581"), _NORMAL


def _special_names(tokenizer: Tokenizer) -> dict[int, str]:
    """Return the text of every special token, as `tokenizer.json` has it."""
    names = {token: f"<|special_{token}|>" for token in tokenizer.special_ids}
    try:
        content = json.loads(Path(tokenizer.tokenizer_json).read_bytes())
        added = {token["id"]: token["content"] for token in content["added_tokens"]}
    except (OSError, ValueError, KeyError, TypeError):
        return names
    return {index: added.get(index, name) for index, name in names.items()}


def _alphabet() -> list[str]:
    """Return the letter of every byte: itself if printable, otherwise from 256 on."""
    printing = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    free = iter(range(256, 512))
    return [chr(byte if byte in printing else next(free)) for byte in range(256)]


def _word(number: int) -> bytes:
    return struct.pack("<I", number)


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _pair(key: str, kind: int, value: bytes) -> bytes:
    return _text(key) + _word(kind) + value


def _list(key: str, kind: int, values: Sequence[bytes]) -> bytes:
    head = _word(kind) + struct.pack("<Q", len(values))
    return _pair(key, _ARRAY, head + b"".join(values))


def load(tokenizer: Tokenizer, options: Mapping[str, object]) -> Engine:
    """Return the engine over a tokenizer."""
    return Engine(tokenizer, options)
