"""Measure engines as a server uses them: many texts side by side, caches, compile load.

A part of `bench` and no task: what is measured is the machine's cores under an engine's
own thread pool, one figure for the whole, where a task has one row a schema and one
thread. Each engine's own batch call is used: llguidance's `LLExecutor`, XGrammar's
`BatchGrammarMatcher`.

- `masks`: median microseconds of one step, in which every text of a batch gets its
  mask, for batches of 1, 8, 32 and 128, each text of another schema: by the clock, by
  the clock for one text, and of processor time, which other work disturbs less.
- `compile`: the time of one compile alone, and while others compile on every core.
- `cache`: the first compile of a schema, the same again, and again after a thousand
  others went through the cache. llguidance has no cache: it compiles anew. XGrammar's
  also holds parts of grammars, so later schemas of a shape compile faster.

The schemas are made here; the vocabulary is that of `--batch-vocabulary`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.download.acquire import FetchSettings
from evaluation.setup.engine_files import find_engine
from evaluation.setup.environments import NotInstalled, find_interpreter
from evaluation.tokenizers import get_tokenizer

if TYPE_CHECKING:
    import argparse

_LOOP = Path(__file__).with_name("batches_loop.py")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    both = ["llguidance", "xgrammar"]
    parser.add_argument("--batch-engines", nargs="*", default=both)
    parser.add_argument("--batch-sizes", nargs="*", type=int, default=[1, 8, 32, 128])
    parser.add_argument("--batch-vocabulary", default="smollm2")
    parser.add_argument(
        "--batch-others", type=int, default=1000, help="grammars that fill the cache"
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of every engine; why there are none where there are none."""
    settings = FetchSettings.from_environment()
    files = get_tokenizer(options.batch_vocabulary, settings)
    encode = files.encoder()
    asked = {
        "sizes": options.batch_sizes,
        "others": options.batch_others,
        "cores": len(os.sched_getaffinity(0)),
        "tokens": str(files.tokens),
        "tokenizer_json": str(files.tokenizer_json),
        "vocab_size": files.vocab_size,
        "eos_id": files.eos_id,
        "texts": [list(ids or ()) for ids in encode([text_of(n) for n in range(128)])],
        "schemas": [schema_of(number) for number in range(128 + options.batch_others)],
    }
    found: dict[str, Any] = {"tokenizer": options.batch_vocabulary}
    for name in options.batch_engines:
        file = find_engine(name)
        python = find_interpreter(settings.cache, file)
        if isinstance(python, NotInstalled):
            found[name] = {"not_measured": f"{python.reason}: {python.install}"}
            continue
        done = subprocess.run(
            [python, _LOOP, name, file.path],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            last = done.stderr.strip().splitlines()[-1:]
            found[name] = {"not_measured": last[0] if last else "it died"}
        else:
            found[name] = json.loads(done.stdout)
    return found


def schema_of(number: int) -> str:
    """Return one of many schemas of the same shape with names of its own."""
    properties = {
        f"name_{number}": {"type": "string", "maxLength": 20 + number % 50},
        f"count_{number}": {"type": "integer"},
        "kind": {"enum": [f"a{number}", f"b{number}"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    return json.dumps(
        {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    )


def text_of(number: int) -> str:
    """Return a text that the schema of this number accepts."""
    return json.dumps(
        {
            f"name_{number}": "a name",
            f"count_{number}": 42 + number,
            "kind": f"a{number}",
            "tags": ["first", "second", "third"],
        }
    )
