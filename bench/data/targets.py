"""What targets take of a build, and whether the vendors' own libraries agree, offline.

A library takes a schema as it stands if it raises nothing and changes nothing. It is
asked with the keywords alone that constrain. Without `--sdk-python` and `--sdk-node`
(the package `openai` of npm, unpacked) none is asked.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from curation.core.json_types import Json, UntypedJson
from curation.fit.profile import Effect, load_profile, profile_names
from curation.fit.verdict import FAILING, FitFinding, judge_fit
from curation.schema.dialects import ANY_DIALECT
from curation.schema.keywords import ANNOTATIONS, KNOWN_KEYWORDS
from curation.schema.subschemas import edited
from curation.sources.local import open_source

if TYPE_CHECKING:
    import argparse

    from curation.json.pointer import Tokens

_SEED: Final = 37
_PROVIDERS: Final = ("openai-strict", "anthropic", "gemini")
#: What libraries are asked about: what they do with other members changes no answer.
_CONSTRAINING: Final = KNOWN_KEYWORDS - (ANNOTATIONS - {"format"}) - {"id", "$id"}
#: Reads a schema a line; writes null if it is taken as it stands, else why not.
_ANTHROPIC: Final = """
import copy, json, sys
from anthropic.lib._parse._transform import transform_schema
for line in sys.stdin:
    schema = json.loads(line)
    try:
        changed = transform_schema(copy.deepcopy(schema))
        print(json.dumps({"schema": changed}))
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"[:200]}))
"""
_GEMINI: Final = """
import json, sys
from google.genai import types
for line in sys.stdin:
    schema = json.loads(line)
    try:
        types.JSONSchema.model_validate(schema)
        print(json.dumps({"schema": schema}))
    except Exception as error:
        places = {(str(it["loc"][-1]), it["type"]) for it in error.errors()}
        print(json.dumps({"error": ", ".join(map(" ".join, sorted(places)))[:200]}))
"""
_OPENAI: Final = """
const { toStrictJsonSchema } = require(process.argv[1] + "/lib/transform.js");
const readline = require("node:readline").createInterface({ input: process.stdin });
readline.on("line", (line) => {
  try {
    console.log(JSON.stringify({ schema: toStrictJsonSchema(JSON.parse(line)) }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error).slice(0, 200) }));
  }
});
"""


def _bare(schema: UntypedJson) -> UntypedJson:
    """Return a schema with the keywords alone that constrain, names in one order."""
    return edited(schema, ANY_DIALECT, _constraints)


def _constraints(_tokens: Tokens, schema: Json) -> Json:
    if not isinstance(schema, dict):
        return schema
    kept = {name: own for name, own in schema.items() if name in _CONSTRAINING}
    required = kept.get("required")
    if isinstance(required, list) and all(isinstance(it, str) for it in required):
        kept["required"] = sorted(required, key=str)
    return kept


def _names(value: UntypedJson) -> set[str]:
    """Return the names of all members."""
    if isinstance(value, dict):
        return set(value).union(*map(_names, value.values()))
    return set().union(*map(_names, value)) if isinstance(value, list) else set()


def _ask(command: Sequence[str], texts: Sequence[str]) -> Iterator[str | None]:
    """Yield for each schema why a library does not take it as it stands, or None."""
    lines = "".join(json.dumps(_bare(json.loads(text))) + "\n" for text in texts)
    run = subprocess.run(
        command, input=lines, capture_output=True, text=True, check=True
    )
    for text, line in zip(texts, run.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        if "error" in answer:
            yield answer["error"]
        else:
            before, after = _bare(json.loads(text)), _bare(answer["schema"])
            lost = sorted(_names(before) - _names(after))
            yield None if before == after else f"changed, without {lost or 'a loss'}"


def _reasons(findings: Sequence[FitFinding]) -> str:
    return ", ".join(
        sorted({f"{it.rule} {it.keyword} ({it.evidence})" for it in findings})
    )


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add where the vendors' libraries are."""
    group.add_argument("--sdk-python", help="a Python with anthropic and google-genai")
    group.add_argument("--sdk-node", help="the folder of npm's package openai")
    group.add_argument("--sdk-records", type=int, default=1_000)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return what each target takes, and how its library agrees.

    Raises:
        ValueError: no build is named.
    """
    if options.build is None:
        raise ValueError("name a build: --build FOLDER")
    source = open_source(str(options.build))
    texts = [text.read().decode() for text in source.texts()]
    counts: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    started = time.process_time()
    for text in texts:
        schema, own = json.loads(text), set()
        for name in profile_names():
            effects = {it.effect for it in judge_fit(schema, load_profile(name))}
            own |= {name} if not effects & FAILING else set()
            counts[f"{name} ignored"] += Effect.IGNORED in effects
        taken.update(own)
        counts["all three providers"] += own >= set(_PROVIDERS)
    return {
        "records": len(texts),
        "processor_seconds": round(time.process_time() - started, 1),
        "taken": dict(taken),
        "counts": dict(counts),
        "libraries": {} if options.sdk_python is None else _agreement(texts, options),
    }


def _agreement(texts: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    drawn = random.Random(_SEED).sample(texts, options.sdk_records)  # noqa: S311 (a sample)
    commands = {
        "openai-strict": ["node", "-e", _OPENAI, str(Path(options.sdk_node).resolve())],
        "anthropic": [options.sdk_python, "-c", _ANTHROPIC],
        "gemini": [options.sdk_python, "-c", _GEMINI],
    }
    return {
        target: _compared(target, drawn, _ask(command, drawn))
        for target, command in commands.items()
    }


def _compared(
    target: str, texts: Sequence[str], refusals: Iterable[str | None]
) -> dict[str, Any]:
    # Gemini ignores what the others refuse.
    against = FAILING if target != "gemini" else frozenset(Effect)
    alike, apart = 0, Counter[str]()
    for text, refusal in zip(texts, refusals, strict=True):
        findings = judge_fit(json.loads(text), load_profile(target))
        ours = not any(it.effect in against for it in findings)
        if ours == (refusal is None):
            alike += 1
        elif ours:
            apart[f"we take it, they do not: {refusal}"] += 1
        else:
            apart[f"they take it, we do not: {_reasons(findings)}"] += 1
    return {"alike": alike, "of": len(texts), "apart": dict(apart.most_common())}
