"""One engine's part of `batches`, run by its own Python: nothing of csbdata is there.

Usage: batches_loop.py NAME ENGINE.py, with what is asked as JSON on standard input.
"""

from __future__ import annotations

import json
import runpy
import sys
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from time import perf_counter_ns, process_time_ns
from typing import Any

#: Compiles of which the median is taken.
_COMPILES = 15


class LlguidanceBatch:
    """llguidance with its own pool of threads."""

    def __init__(self, asked: dict[str, Any], _path: str) -> None:
        """Load the vocabulary."""
        import llguidance  # noqa: PLC0415 (the engine of this process)
        import llguidance.numpy as masks  # noqa: PLC0415 (as above)

        self._library, self._masks = llguidance, masks
        self._tokens = llguidance.LLTokenizer(
            asked["tokenizer_json"],
            n_vocab=asked["vocab_size"],
            eos_token=asked["eos_id"],
        )
        self._size = asked["vocab_size"]
        self._executor = llguidance.LLExecutor(num_threads=asked["cores"])

    def compile(self, schema: str) -> Any:  # noqa: ANN401 (the engine's)
        """Return a matcher of a schema."""
        grammar = self._library.LLMatcher.grammar_from_json_schema(schema)
        return self._library.LLMatcher(self._tokens, grammar, log_level=0)

    def start(self, grammar: Any) -> Any:  # noqa: ANN401 (the engine's)
        """Return a text's own matcher."""
        return grammar.deep_copy()

    def begin(self, count: int) -> None:
        """Make room for masks of so many texts."""
        self._room = self._masks.allocate_token_bitmask(count, self._size)

    def fill(self, matchers: list[Any]) -> None:
        """Compute the masks of all texts."""
        pairs = [(matcher, place) for place, matcher in enumerate(matchers)]
        self._masks.fill_next_token_bitmask_par(self._executor, pairs, self._room)

    def take(self, matcher: Any, token: int) -> bool:  # noqa: ANN401 (the engine's)
        """Take a token."""
        return bool(matcher.consume_token(token))


class XgrammarBatch:
    """XGrammar with its own pool of threads and its cache."""

    def __init__(self, asked: dict[str, Any], path: str) -> None:
        """Load the vocabulary."""
        library = runpy.run_path(path)["import_xgrammar"]()
        self._library = library
        listed = json.loads(Path(asked["tokens"]).read_bytes())
        contents = [b"" if token is None else b64decode(token) for token in listed]
        tokens = library.TokenizerInfo(
            contents,
            library.VocabType.RAW,
            vocab_size=asked["vocab_size"],
            stop_token_ids=[asked["eos_id"]],
        )
        self._size = asked["vocab_size"]
        self._compiler = library.GrammarCompiler(tokens, max_threads=asked["cores"])
        self._batch = library.BatchGrammarMatcher(asked["cores"])

    def compile(self, schema: str) -> Any:  # noqa: ANN401 (the engine's)
        """Return the compiled grammar of a schema."""
        return self._compiler.compile_json_schema(schema, strict_mode=False)

    def start(self, grammar: Any) -> Any:  # noqa: ANN401 (the engine's)
        """Return a text's own matcher."""
        return self._library.GrammarMatcher(grammar)

    def begin(self, count: int) -> None:
        """Make room for masks of so many texts."""
        self._room = self._library.allocate_token_bitmask(count, self._size)

    def fill(self, matchers: list[Any]) -> None:
        """Compute the masks of all texts."""
        self._batch.batch_fill_next_token_bitmask(matchers, self._room)

    def take(self, matcher: Any, token: int) -> bool:  # noqa: ANN401 (the engine's)
        """Take a token."""
        return bool(matcher.accept_token(token))


def _timed_ms(engine: Any, schema: str) -> float:  # noqa: ANN401 (one of the above)
    start = perf_counter_ns()
    engine.compile(schema)
    return (perf_counter_ns() - start) / 1e6


def _masks(
    engine: Any,  # noqa: ANN401 (one of the above)
    grammars: list[Any],
    texts: list[list[int]],
    size: int,
) -> dict[str, float]:
    """Return the median time of a step in which all texts of a batch get masks."""
    matchers = [engine.start(grammar) for grammar in grammars[:size]]
    engine.begin(size)
    steps, processor = [], []
    for place in range(min(len(text) for text in texts[:size])):
        start, used = perf_counter_ns(), process_time_ns()
        engine.fill(matchers)
        steps.append((perf_counter_ns() - start) / 1e3)
        processor.append((process_time_ns() - used) / 1e3)
        for matcher, text in zip(matchers, texts, strict=False):
            if not engine.take(matcher, text[place]):
                raise SystemExit(f"token {place} of a valid text is refused")
    step = median(steps)
    return {
        "step_us": round(step, 1),
        "by_text_us": round(step / size, 2),
        "processor_us": round(median(processor), 1),
    }


def main() -> None:
    """Measure one engine; print its figures."""
    asked = json.load(sys.stdin)
    kinds = {"llguidance": LlguidanceBatch, "xgrammar": XgrammarBatch}
    engine: Any = kinds[sys.argv[1]](asked, sys.argv[2])
    schemas = asked["schemas"]
    engine.compile('{"type": "boolean"}')
    cold = [_timed_ms(engine, schema) for schema in schemas[:_COMPILES]]
    warm = [_timed_ms(engine, schema) for schema in schemas[:_COMPILES]]
    fresh = schemas[_COMPILES:128]
    threads = asked["cores"]
    with ThreadPoolExecutor(threads) as pool:
        loaded = list(pool.map(lambda schema: _timed_ms(engine, schema), fresh))
    grammars = [engine.compile(schema) for schema in schemas[:128]]
    masks = {
        str(size): _masks(engine, grammars, asked["texts"], size)
        for size in asked["sizes"]
    }
    for schema in schemas[128:]:
        engine.compile(schema)
    full = [_timed_ms(engine, schema) for schema in schemas[:_COMPILES]]
    found = {
        "cores": threads,
        "masks": masks,
        "compile_ms": {
            "alone": round(median(cold), 3),
            f"{threads} at once": round(median(loaded), 3),
        },
        "cache_ms": {
            "cold": round(median(cold), 3),
            "warm": round(median(warm), 3),
            f"after {len(schemas) - 128} others": round(median(full), 3),
        },
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
