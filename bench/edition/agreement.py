"""Walk the texts of runs of task `masks` again by the engine's own API, and compare.

Plain Python without csbdata's packages. Of each text result and place are compared; of
each schema whether it compiles. Exit 1 if any differ.
Usage: python -m bench.edition.agreement ENGINE BUILD TOKENIZER RUN...
ENGINE is llguidance or xgrammar, importable by the Python that runs this; TOKENIZER the
cache's folder of the runs' tokenizer, ~/.cache/csbdata/tokenizers/NAME-DIGEST.
"""

# ruff: noqa: ANN401 (objects of the engines)

from __future__ import annotations

import ctypes
import json
import sys
from base64 import b64decode
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    Start = Callable[[], tuple[Callable[[], bool], Callable[[int], bool]]]


def llguidance(folder: Path, size: int, end: int, mask: bytearray) -> Any:
    """Return what compiles a schema, or returns None if llguidance refuses it."""
    import llguidance as library  # noqa: PLC0415 - the other may be missing

    tokens = library.LLTokenizer(
        str(folder / "tokenizer.json"),
        n_vocab=size,
        eos_token=end,
        slices=library.LLTokenizer.general_slices(),
    )
    place = ctypes.addressof(ctypes.c_char.from_buffer(mask))
    options: Any = {
        "whitespace_flexible": True,
        "coerce_one_of": False,
        "lenient": False,
    }

    def compiled(schema: str) -> Start | None:
        matcher = library.LLMatcher
        grammar = matcher.grammar_from_json_schema(schema, overrides=options)
        first = matcher(tokens, grammar, log_level=0)
        copy = first.deep_copy()

        def start() -> tuple[Callable[[], bool], Callable[[int], bool]]:
            nonlocal first, copy
            # A limit that one copy has reached is reached in all later ones too.
            if copy.is_error():
                first = matcher(tokens, grammar, log_level=0)
            copy = first.deep_copy()

            def fill() -> bool:
                copy.unsafe_compute_mask_ptr(place, len(mask))
                return not copy.is_error()

            return fill, copy.consume_token

        return None if first.is_error() else start

    return compiled


def xgrammar(folder: Path, size: int, end: int, mask: bytearray) -> Any:
    """Return what compiles a schema, or returns None if XGrammar refuses it."""
    import torch  # noqa: PLC0415 - as above
    import xgrammar as library  # noqa: PLC0415 - as above

    listed = json.loads((folder / "tokens.json").read_bytes())
    info = library.TokenizerInfo(
        [b"" if token is None else b64decode(token) for token in listed],
        library.VocabType.RAW,
        vocab_size=size,
        stop_token_ids=[end],
    )
    compiler = library.GrammarCompiler(info, max_threads=1, cache_enabled=False)
    bits = torch.frombuffer(mask, dtype=torch.int32).view(1, -1)

    def compiled(schema: str) -> Start | None:
        try:
            grammar = compiler.compile_json_schema(
                schema, any_whitespace=True, strict_mode=False
            )
        except RuntimeError:
            return None

        def start() -> tuple[Callable[[], bool], Callable[[int], bool]]:
            matcher = library.GrammarMatcher(grammar)

            def fill() -> bool:
                if matcher.fill_next_token_bitmask(bits) is False:
                    bits.fill_(-1)
                return True

            return fill, matcher.accept_token

        return start

    return compiled


def walked(start: Start, ids: list[int], end: int, mask: bytearray) -> tuple[str, Any]:
    """Return the result of one text, and the token at which it was found."""
    fill, take = start()
    for place, token in enumerate([*ids, end]):
        if not fill():
            return "engine_error", place
        if not mask[token >> 3] >> (token & 7) & 1:
            return ("blocked", place) if token != end else ("unfinished", None)
        if token != end and not take(token):
            return "lied", place
    return "accepted", None


def main() -> int:
    """Compare all cases; print counts and what differs."""
    engine, build, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    rows = {}
    for run in sys.argv[4:]:
        # A case that was asked again has a later line.
        for line in (Path(run) / "attempts.jsonl").read_text().splitlines():
            row = json.loads(line)
            rows[row["config"], row["id"]] = row
    about = json.loads((folder / "about.json").read_bytes())
    size, end = about["vocab_size"], about["eos_id"]
    mask = bytearray((size + 31) // 32 * 4)
    compiled = {"llguidance": llguidance, "xgrammar": xgrammar}[engine](
        folder, size, end, mask
    )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.encode_special_tokens = True
    counts: Counter[str] = Counter()
    for config in sorted({config for config, _ in rows}):
        ids = [name for each, name in rows if each == config]
        chosen: Any = [("unique_id", "in", ids)]
        schemas = pq.read_table(build / config, filters=chosen).to_pylist()
        texts = pq.read_table(build / "instances" / config, filters=chosen).to_pylist()
        for schema in schemas:
            row = rows[config, schema["unique_id"]]
            own = [each for each in texts if each["unique_id"] == schema["unique_id"]]
            start = None
            if row["result"] != "timeout":
                start = compiled(schema["json_schema"])
                same = (start is None) == (row["result"] == "compile_error")
                counts["schemas agree" if same else "schemas differ"] += 1
            for text, walk in zip(own, row["walks"], strict=True):
                if start is None or walk["verdict"] == "not_run":
                    counts["texts not compared"] += 1
                    continue
                spelled = tokenizer.encode(text["text"], add_special_tokens=False)
                found = walked(start, spelled.ids, end, mask)
                verdict, at = walk["verdict"], walk["at"]
                gap = "not in the mask" in walk["detail"]
                if found == (verdict, at):
                    counts["texts agree"] += 1
                elif gap and found == ("blocked", at):
                    counts["texts agree; the engine takes what its mask lacks"] += 1
                else:
                    counts["texts differ"] += 1
                    told = (verdict, at, "loop:", *found)
                    print(config, schema["unique_id"], text["number"], *told)
    print(*(f"{name}: {count:,}" for name, count in sorted(counts.items())), sep="\n")
    return int(bool(counts["schemas differ"] or counts["texts differ"]))


if __name__ == "__main__":
    sys.exit(main())
