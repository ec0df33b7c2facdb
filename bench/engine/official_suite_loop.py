"""A second, plainly written loop over the official suite, with nothing of csbdata's.

Usage: official_suite_loop.py ENGINE WORK OUT, run by a Python that has the engine. WORK
is JSON: the vocabulary, and a list of cases, each with its schema and the tokens of its
texts. Of each case one line is appended to OUT as soon as it is known: its number, and
what came of every text (true: written to its end), or why there is nothing. Cases that
OUT has already are left out, so that the loop can be started again after a death.

Each text has a matcher of its own, made as the engine's own documents make it, and no
option is given: this is what a library does by itself.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import MagicMock

if TYPE_CHECKING:
    from collections.abc import Callable

    #: From a schema to what walks the tokens of one text.
    Compile = Callable[[str], Callable[[list[int]], bool]]


def main(engine: str, work_file: Path, out: Path) -> None:
    """Walk every text of every case that has no line yet."""
    work = json.loads(work_file.read_bytes())
    compile_schema = {
        "llguidance": llguidance,
        "xgrammar": xgrammar,
        "outlines_core": outlines_core,
        "llama_cpp": llama_cpp,
    }[engine](work)
    done = len(out.read_text().splitlines()) if out.exists() else 0
    with out.open("a") as lines:
        for number, (schema, texts) in list(enumerate(work["cases"]))[done:]:
            answer: dict[str, Any] = {"case": number}
            try:
                walk = compile_schema(schema)
            except BaseException as error:  # noqa: BLE001 - a panic is none of Exception
                answer["refused"] = f"{type(error).__name__}: {error}"[:200]
            else:
                answer["written"] = [walk(tokens) for tokens in texts]
            lines.write(json.dumps(answer) + "\n")
            lines.flush()


def has_bit(mask: bytes, token: int) -> bool:
    """Return whether a mask allows a token."""
    return bool(mask[token // 8] >> token % 8 & 1)


def llguidance(work: dict[str, Any]) -> Compile:
    """Walk with `LLMatcher`; a matcher that has failed is an error."""
    from llguidance import LLMatcher, LLTokenizer  # noqa: PLC0415 (one engine is there)

    parse_tokens = LLTokenizer(
        work["tokenizer_json"], n_vocab=work["vocab_size"], eos_token=work["eos"]
    )

    def compile_schema(schema: str) -> Callable[[list[int]], bool]:
        grammar = LLMatcher.grammar_from_json_schema(schema)
        if LLMatcher(parse_tokens, grammar, log_level=0).is_error():
            raise ValueError("refused")

        def walk(tokens: list[int]) -> bool:
            matcher = LLMatcher(parse_tokens, grammar, log_level=0)
            for token in tokens:
                mask = matcher.compute_bitmask()
                if matcher.is_error():
                    raise RuntimeError(matcher.get_error())
                if not has_bit(mask, token):
                    return False
                if not matcher.consume_token(token):
                    raise RuntimeError(matcher.get_error())
            return bool(matcher.is_accepting())

        return walk

    return compile_schema


def xgrammar(work: dict[str, Any]) -> Compile:
    """Walk with `GrammarMatcher` and the library's own bitmask."""
    import torch  # noqa: F401, PLC0415 (one engine is there; before stand-ins for what it looks for)

    for name in ("transformers", "triton", "triton.language"):
        sys.modules.setdefault(name, MagicMock())
    import xgrammar as library  # noqa: PLC0415 (one engine is there)

    words = [bytes.fromhex(word) if word else b"" for word in work["vocabulary"]]
    info = library.TokenizerInfo(
        words,
        library.VocabType.RAW,
        vocab_size=work["vocab_size"],
        stop_token_ids=[work["eos"]],
    )
    compiler = library.GrammarCompiler(info)

    def compile_schema(schema: str) -> Callable[[list[int]], bool]:
        grammar = compiler.compile_json_schema(schema)

        def walk(tokens: list[int]) -> bool:
            matcher = library.GrammarMatcher(grammar)
            mask = library.allocate_token_bitmask(1, work["vocab_size"])
            for token in [*tokens, work["eos"]]:
                matcher.fill_next_token_bitmask(mask)
                if not has_bit(mask.numpy().tobytes(), token):
                    return False
                if not matcher.accept_token(token):
                    raise RuntimeError(f"{token} was in the mask, and is refused")
            return True

        return walk

    return compile_schema


def outlines_core(work: dict[str, Any]) -> Compile:
    """Walk with a `Guide` over an `Index`, by its lists of tokens."""
    from outlines_core import Guide, Index, Vocabulary  # noqa: PLC0415 (one engine is there)
    from outlines_core.json_schema import build_regex_from_schema  # noqa: PLC0415 (one engine is there)

    ids: dict[bytes, list[int]] = {}
    for token, word in enumerate(work["vocabulary"]):
        if word and token != work["eos"]:
            ids.setdefault(bytes.fromhex(word), []).append(token)
    vocabulary = Vocabulary(work["eos"], ids)

    def compile_schema(schema: str) -> Callable[[list[int]], bool]:
        index = Index(build_regex_from_schema(schema), vocabulary)

        def walk(tokens: list[int]) -> bool:
            guide = Guide(index)
            for token in tokens:
                if token not in guide.get_tokens():
                    return False
                guide.advance(token)
            return work["eos"] in guide.get_tokens()

        return walk

    return compile_schema


def llama_cpp(work: dict[str, Any]) -> Compile:
    """Walk with llama.cpp's grammar sampler over a file with a vocabulary alone."""
    import llama_cpp as library  # noqa: PLC0415 (one engine is there)

    settings = library.llama_model_default_params()
    settings.vocab_only = True
    model = library.llama_model_load_from_file(work["gguf"].encode(), settings)
    vocab = library.llama_model_get_vocab(model)
    size = library.llama_vocab_n_tokens(vocab)

    def allows(sampler: Any, token: int) -> bool:  # noqa: ANN401 (a pointer of llama.cpp's)
        one = (library.llama_token_data * 1)()
        one[0].id, one[0].logit = token, 0.0
        array = library.llama_token_data_array(one, 1, -1, False)  # noqa: FBT003 (of C)
        library.llama_sampler_apply(sampler, ctypes.byref(array))
        return float(one[0].logit) == 0.0

    def compile_schema(schema: str) -> Callable[[list[int]], bool]:
        text = library.llama_grammar.json_schema_to_gbnf(schema).encode()
        first = library.llama_sampler_init_grammar(vocab, text, b"root")
        if not first or not size:
            raise ValueError("its own grammar is not parsed")

        def walk(tokens: list[int]) -> bool:
            sampler = library.llama_sampler_init_grammar(vocab, text, b"root")
            for token in tokens:
                if not allows(sampler, token):
                    return False
                library.llama_sampler_accept(sampler, token)
            return allows(sampler, work["eos"])

        return walk

    return compile_schema


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
