"""The bare loop that `engines` is measured beside: llguidance and nothing else.

Usage: engines_loop.py WORK TOKENIZER OUT, where WORK is a JSON list of name, schema
and texts, and OUT gets the times of each. The engine is set as `csbdata eval` sets it
by default, and called in the fastest way it offers: the mask is written to one place,
again and again.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from llguidance import LLMatcher, LLTokenizer

from curation.download.acquire import FetchSettings
from evaluation.tokenizers import get_tokenizer


def main() -> None:
    """Walk all instances; write every time that was taken."""
    work, name, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    files = get_tokenizer(name, FetchSettings.from_environment())
    encode = files.encoder()
    tokens = LLTokenizer(
        str(files.tokenizer_json),
        n_vocab=files.vocab_size,
        eos_token=files.eos_id,
        slices=LLTokenizer.general_slices(),
    )
    options: Any = {
        "whitespace_flexible": True,
        "coerce_one_of": False,
        "lenient": False,
    }
    size = (files.vocab_size + 31) // 32 * 4
    mask = bytearray(size)
    place = ctypes.addressof(ctypes.c_char.from_buffer(mask))
    found: dict[str, list[list[int]]] = {}
    for name_of_schema, schema, texts in json.loads(work.read_bytes()):
        compiles: list[int] = []
        masks: list[int] = []
        commits: list[int] = []
        start = perf_counter_ns()
        grammar = LLMatcher.grammar_from_json_schema(schema, overrides=options)
        compiled = LLMatcher(tokens, grammar, log_level=0)
        end = perf_counter_ns()
        if compiled.is_error():
            continue
        compiles.append(end - start)
        for ids in encode(texts):
            matcher = compiled.deep_copy()
            for token in ids or ():
                start = perf_counter_ns()
                matcher.unsafe_compute_mask_ptr(place, size)
                end = perf_counter_ns()
                masks.append(end - start)
                if not mask[token >> 3] >> (token & 7) & 1:
                    break
                start = perf_counter_ns()
                matcher.consume_token(token)
                commits.append(perf_counter_ns() - start)
        found[name_of_schema] = [compiles, masks, commits]
    out.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()
