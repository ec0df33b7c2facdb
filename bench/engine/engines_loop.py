"""The bare loop that `engines` is measured beside: an engine and nothing else.

Usage: engines_loop.py WORK TOKENIZER OUT ENGINE LIBRARIES, where WORK is a JSON list of
name, schema and texts, OUT gets the times of each, and LIBRARIES is the folder that has
the engine if this Python has it not. The engine is set as `csbdata eval`
sets it by default, and called in the fastest way it offers: the mask is written to one
place, again and again.
"""

# ruff: noqa: ANN401 (objects of the engines, two of which are alike)

from __future__ import annotations

import ctypes
import json
import sys
from binascii import a2b_base64
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from curation.download.cache import FetchSettings
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.tokenizers import TokenizerFiles


class _Llguidance:
    """llguidance, its mask written to one place again and again."""

    def __init__(self, files: TokenizerFiles, mask: bytearray) -> None:
        import llguidance  # noqa: PLC0415 - the other engine does not need it

        self._library = llguidance
        self._size = len(mask)
        self._place = ctypes.addressof(ctypes.c_char.from_buffer(mask))
        self._tokens = llguidance.LLTokenizer(
            str(files.tokenizer_json),
            n_vocab=files.vocab_size,
            eos_token=files.eos_id,
            slices=llguidance.LLTokenizer.general_slices(),
        )
        self._options: Any = {
            "whitespace_flexible": True,
            "coerce_one_of": False,
            "lenient": False,
        }

    def compile(self, schema: str) -> Any:
        matcher = self._library.LLMatcher
        grammar = matcher.grammar_from_json_schema(schema, overrides=self._options)
        found = matcher(self._tokens, grammar, log_level=0)
        return None if found.is_error() else found

    def start(self, compiled: Any) -> tuple[Callable[[], object], Callable[[int], Any]]:
        matcher = compiled.deep_copy()
        place, size = self._place, self._size
        compute = matcher.unsafe_compute_mask_ptr
        return lambda: compute(place, size), matcher.consume_token


class _XGrammar:
    """XGrammar with its cache, one thread."""

    def __init__(self, files: TokenizerFiles, mask: bytearray) -> None:
        import torch  # noqa: PLC0415 - as above

        from evaluation.engines.xgrammar import import_xgrammar  # noqa: PLC0415 - as above

        self._library = import_xgrammar()
        self._mask = torch.frombuffer(mask, dtype=torch.int32).view(1, -1)
        listed = json.loads(files.tokens.read_bytes())
        info = self._library.TokenizerInfo(
            [b"" if token is None else a2b_base64(token) for token in listed],
            self._library.VocabType.RAW,
            vocab_size=files.vocab_size,
            stop_token_ids=[files.eos_id],
        )
        self._compiler = self._library.GrammarCompiler(
            info, max_threads=1, cache_enabled=True
        )

    def compile(self, schema: str) -> Any:
        try:
            return self._compiler.compile_json_schema(
                schema, any_whitespace=True, strict_mode=False
            )
        except RuntimeError:
            return None

    def start(self, compiled: Any) -> tuple[Callable[[], object], Callable[[int], Any]]:
        matcher = self._library.GrammarMatcher(compiled)
        bits, fill = self._mask, matcher.fill_next_token_bitmask

        def mask() -> None:
            if fill(bits) is False:
                bits.fill_(-1)

        return mask, matcher.accept_token


_ENGINES: dict[str, Any] = {"llguidance": _Llguidance, "xgrammar": _XGrammar}


def main() -> None:
    """Walk all instances; write every time that was taken."""
    work, name, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    sys.path.append(sys.argv[5])
    files = get_tokenizer(name, FetchSettings.from_environment())
    encode = files.encoder()
    mask = bytearray((files.vocab_size + 31) // 32 * 4)
    engine = _ENGINES[sys.argv[4]](files, mask)
    found: dict[str, list[list[int]]] = {}
    for name_of_schema, schema, texts in json.loads(work.read_bytes()):
        masks: list[int] = []
        commits: list[int] = []
        start = perf_counter_ns()
        compiled = engine.compile(schema)
        end = perf_counter_ns()
        if compiled is None:
            continue
        for ids in encode(texts):
            compute, commit = engine.start(compiled)
            for token in ids or ():
                begun = perf_counter_ns()
                compute()
                done = perf_counter_ns()
                masks.append(done - begun)
                if not mask[token >> 3] >> (token & 7) & 1:
                    break
                begun = perf_counter_ns()
                commit(token)
                commits.append(perf_counter_ns() - begun)
        found[name_of_schema] = [[end - start], masks, commits]
    out.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()
