"""The bare loop that `engines` is measured beside: an engine and nothing else.

Usage: engines_loop.py WORK TOKENIZER OUT ENGINE LIBRARIES, where WORK is a JSON list of
name, schema and texts, OUT gets the times of each, and LIBRARIES is the folder that has
the engine if this Python has it not. The engine is set as `csbdata eval` sets it by
default (`bench.edition.agreement`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter_ns

from bench.edition.agreement import llguidance, xgrammar
from curation.download.cache import FetchSettings
from evaluation.engines.xgrammar import import_xgrammar
from evaluation.tokenizers import get_tokenizer


def main() -> None:
    """Walk all instances; write every time that was taken."""
    work, name, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    sys.path.append(sys.argv[5])
    files = get_tokenizer(name, FetchSettings.from_environment())
    encode = files.encoder()
    mask = bytearray((files.vocab_size + 31) // 32 * 4)
    if sys.argv[4] == "xgrammar":
        # Without the libraries that it looks for.
        import_xgrammar()
    engine = {"llguidance": llguidance, "xgrammar": xgrammar}[sys.argv[4]]
    compile_schema = engine(files.folder, files.vocab_size, files.eos_id, mask)
    found: dict[str, list[list[int]]] = {}
    for name_of_schema, schema, texts in json.loads(work.read_bytes()):
        masks: list[int] = []
        commits: list[int] = []
        start = perf_counter_ns()
        start_walk = compile_schema(schema)
        end = perf_counter_ns()
        if start_walk is None:
            continue
        for ids in encode(texts):
            compute, commit = start_walk()
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
