"""Try an engine in its environment; run by its path, with the engine's Python.

    environment_smoke_test.py PATH-OF-THE-ENGINE'S-FILE OPTIONS-AS-JSON

Only the standard library is imported. The vocabulary is the 256 bytes and an end.
"""

from __future__ import annotations

import itertools
import json
import runpy
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

_SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}}'


def main(path: str, options: str) -> None:
    """Load, compile, and compute the first mask.

    Args:
        path: The engine's file.
        options: Its options, a JSON text.

    Raises:
        RuntimeError: the first mask does not let an object begin.
        Exception: any that the engine raises.
    """
    load = runpy.run_path(path)["load"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tokenizer.json"
        file.write_text(_tokenizer_json(), encoding="utf-8")
        tokenizer = SimpleNamespace(
            token_bytes=[*(bytes([byte]) for byte in range(256)), None],
            vocab_size=257,
            eos_id=256,
            special_ids=[256],
            kind="byte_level",
            tokenizer_json=str(file),
        )
        engine = load(tokenizer, json.loads(options))
    mask = bytes(engine.start(engine.compile(_SCHEMA)).mask())
    if not mask[ord("{") // 8] >> ord("{") % 8 & 1:
        raise RuntimeError("its first mask does not let an object begin")


def _tokenizer_json() -> str:
    """Return the text of a `tokenizer.json` of the same vocabulary."""
    skeleton = Path(__file__).parents[1] / "tokenizers" / "byte_level.json"
    written = json.loads(skeleton.read_bytes())
    printing = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    free = itertools.count(256)
    letters = [chr(n if n in printing else next(free)) for n in range(256)]
    written["model"]["vocab"] = {letter: index for index, letter in enumerate(letters)}
    written["added_tokens"][0] |= {"id": 256, "content": "<|end|>"}
    return json.dumps(written)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
